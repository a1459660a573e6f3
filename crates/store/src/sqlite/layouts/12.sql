-- What filters admit is kept from one question to the next, until `filterable` grows. It grows with each change of the
-- rows that a filter reads, whoever makes it.

INSERT INTO meta(key, value) VALUES ('filterable', '0');
CREATE TRIGGER filterable_source_came AFTER INSERT ON sources BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_source_went AFTER DELETE ON sources BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_source_changed AFTER UPDATE OF uri, metadata ON sources BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_chunk_came AFTER INSERT ON chunks BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_chunk_went AFTER DELETE ON chunks BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_chunk_changed AFTER UPDATE OF source, section ON chunks BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_section_came AFTER INSERT ON sections BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_section_went AFTER DELETE ON sections BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_section_changed AFTER UPDATE OF parent ON sections BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_class_came AFTER INSERT ON tag_classes BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_class_went AFTER DELETE ON tag_classes BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_class_changed AFTER UPDATE OF key, name, origin ON tag_classes BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_tag_came AFTER INSERT ON chunk_tags BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_tag_went AFTER DELETE ON chunk_tags BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_tag_changed AFTER UPDATE OF chunk, class, key ON chunk_tags BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_example_came AFTER INSERT ON tag_examples BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_example_went AFTER DELETE ON tag_examples BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_example_changed AFTER UPDATE OF chunk, class ON tag_examples BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_record_came AFTER INSERT ON records BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_record_went AFTER DELETE ON records BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_record_changed AFTER UPDATE OF chunk, schema, origin, declared, fields ON records BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_structured_came AFTER INSERT ON structured BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_structured_went AFTER DELETE ON structured BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
CREATE TRIGGER filterable_structured_changed AFTER UPDATE OF hash ON structured BEGIN
    UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'filterable';
END;
