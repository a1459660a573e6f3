-- Which vectors came, changed or went, in order: the codes in memory, and those beside the database, follow
-- step by step. What all saved codes have seen is dropped (`meta`: `vector_log_floor:…`).
CREATE TABLE vector_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    vectors TEXT NOT NULL,
    node INTEGER NOT NULL
);
CREATE TRIGGER chunk_vectors_insert AFTER INSERT ON chunk_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('chunk_vectors', NEW.node);
END;
CREATE TRIGGER chunk_vectors_update AFTER UPDATE ON chunk_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('chunk_vectors', NEW.node);
END;
CREATE TRIGGER chunk_vectors_delete AFTER DELETE ON chunk_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('chunk_vectors', OLD.node);
END;
CREATE TRIGGER atom_vectors_insert AFTER INSERT ON atom_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('atom_vectors', NEW.node);
END;
CREATE TRIGGER atom_vectors_update AFTER UPDATE ON atom_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('atom_vectors', NEW.node);
END;
CREATE TRIGGER atom_vectors_delete AFTER DELETE ON atom_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('atom_vectors', OLD.node);
END;
CREATE TRIGGER entity_vectors_insert AFTER INSERT ON entity_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('entity_vectors', NEW.node);
END;
CREATE TRIGGER entity_vectors_update AFTER UPDATE ON entity_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('entity_vectors', NEW.node);
END;
CREATE TRIGGER entity_vectors_delete AFTER DELETE ON entity_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('entity_vectors', OLD.node);
END;
CREATE TRIGGER summary_vectors_insert AFTER INSERT ON summary_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('summary_vectors', NEW.node);
END;
CREATE TRIGGER summary_vectors_update AFTER UPDATE ON summary_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('summary_vectors', NEW.node);
END;
CREATE TRIGGER summary_vectors_delete AFTER DELETE ON summary_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('summary_vectors', OLD.node);
END;
CREATE TRIGGER source_vectors_insert AFTER INSERT ON source_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('source_vectors', NEW.node);
END;
CREATE TRIGGER source_vectors_update AFTER UPDATE ON source_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('source_vectors', NEW.node);
END;
CREATE TRIGGER source_vectors_delete AFTER DELETE ON source_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('source_vectors', OLD.node);
END;
CREATE TRIGGER section_vectors_insert AFTER INSERT ON section_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('section_vectors', NEW.node);
END;
CREATE TRIGGER section_vectors_update AFTER UPDATE ON section_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('section_vectors', NEW.node);
END;
CREATE TRIGGER section_vectors_delete AFTER DELETE ON section_vectors BEGIN
    INSERT INTO vector_log(vectors, node) VALUES ('section_vectors', OLD.node);
END;
-- Models: what they refused, replies that could not be used, and which calls are under way.

-- Pieces that a model was asked about in vain, and what rules stand in for. A row goes with the mark that the stage
-- has done its chunk; other stages (`of_chunk` 0) ask about documents, communities, clusters, entities, or embed
-- whatever has a text.
CREATE TABLE refusals (
    stage TEXT NOT NULL,
    node INTEGER NOT NULL,
    of_chunk INTEGER NOT NULL,
    label TEXT NOT NULL,
    cause TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (stage, node)
) WITHOUT ROWID;
CREATE INDEX refusals_by_node ON refusals(node);
CREATE TRIGGER mark_gone AFTER DELETE ON progress BEGIN
    DELETE FROM refusals WHERE stage = OLD.stage AND node = OLD.chunk;
END;
CREATE TRIGGER refused_chunk_gone AFTER DELETE ON chunks BEGIN
    DELETE FROM refusals WHERE node = OLD.id;
END;
CREATE TRIGGER refused_atom_gone AFTER DELETE ON atoms BEGIN
    DELETE FROM refusals WHERE node = OLD.id AND NOT of_chunk;
END;
CREATE TRIGGER refused_section_gone AFTER DELETE ON sections BEGIN
    DELETE FROM refusals WHERE node = OLD.id AND NOT of_chunk;
END;
CREATE TRIGGER refused_source_gone AFTER DELETE ON sources BEGIN
    DELETE FROM refusals WHERE node = OLD.id AND NOT of_chunk;
END;
CREATE TRIGGER refused_report_gone AFTER DELETE ON reports BEGIN
    DELETE FROM refusals WHERE node = OLD.community AND NOT of_chunk;
END;
CREATE TRIGGER refused_summary_gone AFTER DELETE ON summaries BEGIN
    DELETE FROM refusals WHERE node = OLD.id AND NOT of_chunk;
END;
-- More is said of it, or less: that was not asked yet.
CREATE TRIGGER refused_entity_mentioned AFTER INSERT ON entity_mentions BEGIN
    DELETE FROM refusals WHERE node = NEW.entity AND NOT of_chunk;
END;
CREATE TRIGGER refused_entity_unmentioned AFTER DELETE ON entity_mentions BEGIN
    DELETE FROM refusals WHERE node = OLD.entity AND NOT of_chunk;
END;
CREATE TRIGGER refused_relation_mentioned AFTER INSERT ON relation_mentions BEGIN
    DELETE FROM refusals WHERE node = NEW.relation AND NOT of_chunk;
END;
CREATE TRIGGER refused_relation_unmentioned AFTER DELETE ON relation_mentions BEGIN
    DELETE FROM refusals WHERE node = OLD.relation AND NOT of_chunk;
END;
-- What is embedded is another text now, which nobody has refused yet.
CREATE TRIGGER refused_entity_described AFTER INSERT ON descriptions BEGIN
    DELETE FROM refusals WHERE node = NEW.node AND stage GLOB 'embed:*';
END;
CREATE TRIGGER refused_source_changed AFTER UPDATE OF title, summary ON sources
WHEN OLD.title IS NOT NEW.title OR OLD.summary IS NOT NEW.summary BEGIN
    DELETE FROM refusals WHERE node = NEW.id AND stage GLOB 'embed:*';
END;
CREATE TRIGGER refused_chunk_changed AFTER UPDATE OF summary ON chunks WHEN OLD.summary IS NOT NEW.summary BEGIN
    DELETE FROM refusals WHERE node = NEW.id AND stage GLOB 'embed:*';
END;
-- A document that was read anew is summed up anew.
CREATE TRIGGER refused_source_unsaid AFTER UPDATE OF summary ON sources WHEN NEW.summary IS NULL BEGIN
    DELETE FROM refusals WHERE node = NEW.id AND NOT of_chunk;
END;

-- A reply that was understood by nobody: it is read by replays, and a new run asks anew. What is asked for the
-- second time stands under `key#1`, and so on.
ALTER TABLE calls ADD COLUMN unusable INTEGER NOT NULL DEFAULT 0;

-- Calls that are under way: who makes one, and until when that is believed. Losing them loses no reply.
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    holder INTEGER NOT NULL,
    place TEXT NOT NULL,
    process INTEGER NOT NULL,
    began INTEGER NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;
-- Block: names of files. The record `x.md` of `r.jsonl` and the file `r.jsonl#x.md` had one address, and took
-- each other's place: both files are read again, under addresses of their own.
UPDATE files SET hash = '' WHERE instr(path, '#') OR path IN
    (SELECT substr(path, 1, instr(path, '#') - 1) FROM files WHERE instr(path, '#'));
-- End of block.
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
