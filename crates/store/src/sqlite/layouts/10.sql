-- Schemas that questions derived. Their records are in `records`, where `declared` is the hash of the schema.

-- `schema`: as JSON. `run`: the run that derived it, `at`: when.
CREATE TABLE structured (
    hash INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    run TEXT NOT NULL,
    schema TEXT NOT NULL
);
-- The passages that a schema was derived from: it goes with any of them, and its records with it.
CREATE TABLE structured_basis (
    structured INTEGER NOT NULL REFERENCES structured(hash) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    PRIMARY KEY (structured, chunk)
) WITHOUT ROWID;
CREATE INDEX structured_basis_by_chunk ON structured_basis(chunk);
-- The passages that were read under it, and how much of the reading was dropped.
CREATE TABLE structured_reads (
    structured INTEGER NOT NULL REFERENCES structured(hash) ON DELETE CASCADE,
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    invented INTEGER NOT NULL,
    incomplete INTEGER NOT NULL,
    PRIMARY KEY (structured, chunk)
) WITHOUT ROWID;
CREATE INDEX structured_reads_by_chunk ON structured_reads(chunk);
CREATE TRIGGER structured_basis_gone AFTER DELETE ON structured_basis BEGIN
    DELETE FROM structured WHERE hash = OLD.structured;
END;
CREATE TRIGGER structured_gone AFTER DELETE ON structured BEGIN
    DELETE FROM records WHERE schema = OLD.name AND declared = OLD.hash;
END;

-- Records are read from cells and from metadata, too: if these change, the passages are read again.
CREATE TRIGGER structured_source_changed AFTER UPDATE OF metadata ON sources WHEN OLD.metadata <> NEW.metadata BEGIN
    DELETE FROM structured_reads WHERE chunk IN (SELECT id FROM chunks WHERE source = NEW.id);
END;
CREATE TRIGGER structured_chunk_changed AFTER UPDATE OF cells, ordinal, kind ON chunks
WHEN OLD.cells IS NOT NEW.cells OR OLD.kind <> NEW.kind OR (OLD.ordinal = 0) <> (NEW.ordinal = 0) BEGIN
    DELETE FROM structured_reads WHERE chunk = NEW.id;
END;
