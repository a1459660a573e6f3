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
