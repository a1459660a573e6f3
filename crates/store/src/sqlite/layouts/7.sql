-- [keep] What people mended in the reading of files, each as JSON, in the order in which it is made. `hash` is that of the
-- file's bytes then: a file that moves takes it along. It goes with files that are forgotten; not with those that are
-- deleted, which may come back.
CREATE TABLE corrections (
    file TEXT NOT NULL,
    place INTEGER NOT NULL,
    hash TEXT NOT NULL,
    correction TEXT NOT NULL,
    PRIMARY KEY (file, place)
) WITHOUT ROWID;
CREATE INDEX corrections_by_hash ON corrections(hash);
