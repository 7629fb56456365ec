"""The fixed keys of the built-in catalogue, which itself holds only their digests. Good on loopback only."""

TENANT_KEYS = {"support": "support-local-key", "retail": "retail-local-key"}
ADMIN_KEY = "operators-local-key"
