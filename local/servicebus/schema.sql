-- Locks are columns, not memory: a message locked at a crash stays locked until its lock expires.
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    state INTEGER NOT NULL,
    delivery_count INTEGER NOT NULL,
    enqueued_at INTEGER NOT NULL,
    expires_at INTEGER,
    lock_token BLOB,
    locked_until INTEGER,
    message_id TEXT,
    durable INTEGER NOT NULL,
    priority INTEGER,
    time_to_live INTEGER,
    scheduled_for INTEGER,
    annotations BLOB NOT NULL,
    bare BLOB NOT NULL,
    -- When something must happen to the message: its lock ends, its time comes, or its life is over.
    -- Deferred messages do not expire.
    due_at INTEGER GENERATED ALWAYS AS (
        CASE WHEN lock_token IS NOT NULL THEN locked_until
             WHEN state = 2 THEN scheduled_for
             WHEN state = 0 THEN expires_at END) VIRTUAL
);
CREATE UNIQUE INDEX IF NOT EXISTS messages_in_order ON messages (queue, sequence);
CREATE UNIQUE INDEX IF NOT EXISTS messages_locked ON messages (lock_token) WHERE lock_token IS NOT NULL;
CREATE INDEX IF NOT EXISTS messages_ready ON messages (queue, sequence) WHERE state = 0 AND lock_token IS NULL;
CREATE INDEX IF NOT EXISTS messages_due ON messages (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS messages_counted ON messages (queue, state, locked_until);

CREATE TABLE IF NOT EXISTS sequences (queue TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;

-- Message ids of the duplicate detection window.
CREATE TABLE IF NOT EXISTS seen (
    queue TEXT NOT NULL, message_id TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (queue, message_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS seen_until ON seen (until);
