CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Money is in millionths of a millionth of a dollar, time in milliseconds since 1970. A revoked key stays, so that what was
-- spent with it is still on record.
CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL UNIQUE,
    made INTEGER NOT NULL,
    params TEXT NOT NULL,
    cap INTEGER,
    expires INTEGER,
    used INTEGER,
    spent INTEGER NOT NULL DEFAULT 0,
    revoked INTEGER,
    old_digest TEXT,
    old_until INTEGER
) STRICT;
CREATE INDEX keys_old_digest ON keys (old_digest) WHERE old_digest IS NOT NULL;

-- Money for calls whose price is not known yet, and the process that makes them.
CREATE TABLE reservations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key INTEGER NOT NULL REFERENCES keys (number),
    money INTEGER NOT NULL,
    made INTEGER NOT NULL,
    place TEXT NOT NULL,
    process INTEGER NOT NULL,
    began INTEGER NOT NULL,
    is_left INTEGER NOT NULL DEFAULT 0,
    base TEXT NOT NULL,
    calls TEXT NOT NULL
) STRICT;
CREATE INDEX reservations_key ON reservations (key);
