"""Service Bus on loopback: queues over AMQP 1.0 for the unmodified `azure-servicebus` SDK, kept in SQLite.

`python -m local.servicebus --port N --data DIR [--queues FILE.json]`; the port is open when it is ready.
`GET http://127.0.0.1:N/queues/{name}` on the same port tells what is in a queue.

Promise: kill -9 at any moment loses no acknowledged message, brings back no completed one, and leaves a
locked one locked until its lock expires, counted as a delivery.

Decision: the AMQP codec is our own. `python-qpid-proton` has a server side but ships as C source only, which
a fresh machine may not be able to build; the SDK's own codec is private, client side, forgets numeric types
when it decodes, and a fault in it would go unseen with the same code at both ends. It is the tests' oracle.

Left out: sessions, topics and transactions (refused with `amqp:not-implemented`), auto-forwarding, TLS and
WebSockets, Entra tokens, and the administration API.
"""
