-- [keep] What people said of answers, each as JSON. It goes when they take it back, and with documents that are forgotten;
-- not with documents that change: then it is stale. `generation`: of the documents when it was said; 0 where they were
-- others.
CREATE TABLE verified (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    record TEXT NOT NULL
);
-- [keep] The chunks that it rests on (`is_ground`) or that the judged answer was written from, whether they are still there
-- or not.
CREATE TABLE verified_chunks (
    verified INTEGER NOT NULL REFERENCES verified(id) ON DELETE CASCADE,
    chunk INTEGER NOT NULL,
    is_ground INTEGER NOT NULL,
    PRIMARY KEY (verified, chunk)
) WITHOUT ROWID;
CREATE INDEX verified_by_chunk ON verified_chunks(chunk);
