"""AMQP 1.0 on the wire: bytes in, values out, and back. Knows no socket, no queue and no Service Bus.

Decoding keeps every numeric type (`UInt` is not `Int`), so that what a client sent can be echoed as it was.
"""
