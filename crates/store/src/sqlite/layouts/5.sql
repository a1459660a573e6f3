-- [keep] The file says whose it is: `PIKE`.
PRAGMA application_id = 1346980677;

-- [keep] The bytes of files as they were read, each once, whatever it is called. They go with the last file
-- that has them.
CREATE TABLE originals (hash TEXT PRIMARY KEY, length INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE INDEX files_by_hash ON files(hash);
CREATE TRIGGER original_unused AFTER DELETE ON files BEGIN
    DELETE FROM originals WHERE hash = OLD.hash AND NOT EXISTS (SELECT 1 FROM files WHERE hash = OLD.hash);
END;
CREATE TRIGGER original_replaced AFTER UPDATE OF hash ON files WHEN OLD.hash <> NEW.hash BEGIN
    DELETE FROM originals WHERE hash = OLD.hash AND NOT EXISTS (SELECT 1 FROM files WHERE hash = OLD.hash);
END;

-- [keep] Where each piece of a chunk stands on its page: a JSON list; NULL until the file is read again.
ALTER TABLE chunks ADD COLUMN boxes TEXT;

-- [keep] Runs that were forgotten, by name alone, so that whoever looks for one is told.
CREATE TABLE forgotten_runs (id TEXT PRIMARY KEY, forgotten INTEGER NOT NULL) WITHOUT ROWID;
