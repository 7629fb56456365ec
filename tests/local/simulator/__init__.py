"""The provider simulator, driven by the unmodified SDKs over sockets."""
