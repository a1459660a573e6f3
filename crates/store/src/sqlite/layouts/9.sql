-- Typed tables. The rows of the table with the number N are in a table `data_N`: the chunk that holds a row, where it
-- stands in the document's text, and a column c0, c1, … for each value. Rows of a chunk have numbers one after another.

-- The rows of one shape. `name`: in SQL, null where there is no table (yet, or for want of rows). `columns`: a list of columns
-- as JSON; those of a table that is not surveyed have nothing of what is told from all rows. Stale: chunks came or went
-- since it was written.
CREATE TABLE data_tables (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    shape INTEGER NOT NULL UNIQUE,
    name TEXT UNIQUE,
    title TEXT NOT NULL DEFAULT '',
    columns TEXT NOT NULL DEFAULT '[]',
    is_stale INTEGER NOT NULL DEFAULT 1,
    is_surveyed INTEGER NOT NULL DEFAULT 0
);
-- The chunks that hold the rows of a shape, each with the number of its first row in the table.
CREATE TABLE data_chunks (
    chunk INTEGER PRIMARY KEY REFERENCES chunks(id) ON DELETE CASCADE,
    data INTEGER NOT NULL,
    source INTEGER NOT NULL,
    first INTEGER NOT NULL DEFAULT 0,
    rows INTEGER NOT NULL DEFAULT 0,
    left_out INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX data_chunks_by_table ON data_chunks(data, source, chunk, rows, left_out);
-- What a document calls its rows, and further words for them as a JSON list.
CREATE TABLE data_parts (
    data INTEGER NOT NULL,
    source INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    about TEXT NOT NULL,
    PRIMARY KEY (data, source)
) WITHOUT ROWID;
CREATE INDEX data_parts_by_source ON data_parts(source);
-- Rows whose chunk went in this transaction: they go before it ends.
CREATE TABLE data_gone (data INTEGER NOT NULL, first INTEGER NOT NULL, rows INTEGER NOT NULL);
CREATE TRIGGER data_chunk_came AFTER INSERT ON data_chunks BEGIN
    UPDATE data_tables SET is_stale = 1 WHERE id = NEW.data AND NOT is_stale;
END;
CREATE TRIGGER data_chunk_went AFTER DELETE ON data_chunks BEGIN
    INSERT INTO data_gone VALUES (OLD.data, OLD.first, OLD.rows);
END;

-- Rows are read from cells and from what a document says of itself: other cells, read again.
CREATE TRIGGER data_source_retold AFTER UPDATE OF metadata, title ON sources
WHEN OLD.metadata <> NEW.metadata OR OLD.title <> NEW.title BEGIN
    DELETE FROM data_chunks WHERE source = NEW.id;
    DELETE FROM progress WHERE stage = 'tables' AND chunk IN (SELECT id FROM chunks WHERE source = NEW.id);
END;
CREATE TRIGGER data_chunk_retold AFTER UPDATE OF cells, ordinal, hidden ON chunks
WHEN OLD.cells IS NOT NEW.cells OR OLD.hidden <> NEW.hidden OR (OLD.ordinal = 0) <> (NEW.ordinal = 0) BEGIN
    DELETE FROM data_chunks WHERE chunk = NEW.id;
    DELETE FROM progress WHERE stage = 'tables' AND chunk = NEW.id;
END;
