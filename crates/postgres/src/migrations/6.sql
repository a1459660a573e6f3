-- What filters admit is kept from one question to the next, until `filterable` grows. It grows with each transaction that changes
-- rows which a filter reads, whoever makes it: once for each transaction and base, however many statements it has.
CREATE FUNCTION pikerag.count_filterable() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    -- Statements by hand name no base, and may change all.
    changed text := coalesce(nullif(current_setting('pikerag.base', true), ''), 'all');
BEGIN
    IF current_setting('pikerag.filterable', true) = changed THEN
        RETURN NULL;
    END IF;
    INSERT INTO pikerag.meta AS m (base, key, value)
        SELECT b.id, 'filterable', '1' FROM pikerag.bases b WHERE changed IN (b.id::text, 'all')
        ON CONFLICT (base, key) DO UPDATE SET value = (m.value::bigint + 1)::text;
    PERFORM set_config('pikerag.filterable', changed, true);
    RETURN NULL;
END $$;
CREATE TRIGGER filterable_source_changed AFTER INSERT OR DELETE OR UPDATE OF uri, metadata ON pikerag.sources
    FOR EACH STATEMENT EXECUTE FUNCTION pikerag.count_filterable();
CREATE TRIGGER filterable_chunk_changed AFTER INSERT OR DELETE OR UPDATE OF source, section ON pikerag.chunks
    FOR EACH STATEMENT EXECUTE FUNCTION pikerag.count_filterable();
CREATE TRIGGER filterable_section_changed AFTER INSERT OR DELETE OR UPDATE OF parent ON pikerag.sections
    FOR EACH STATEMENT EXECUTE FUNCTION pikerag.count_filterable();
CREATE TRIGGER filterable_class_changed AFTER INSERT OR DELETE OR UPDATE OF key, name, origin ON pikerag.tag_classes
    FOR EACH STATEMENT EXECUTE FUNCTION pikerag.count_filterable();
CREATE TRIGGER filterable_tag_changed AFTER INSERT OR DELETE OR UPDATE OF chunk, class, key ON pikerag.chunk_tags
    FOR EACH STATEMENT EXECUTE FUNCTION pikerag.count_filterable();
CREATE TRIGGER filterable_example_changed AFTER INSERT OR DELETE OR UPDATE OF chunk, class ON pikerag.tag_examples
    FOR EACH STATEMENT EXECUTE FUNCTION pikerag.count_filterable();
CREATE TRIGGER filterable_record_changed AFTER INSERT OR DELETE OR UPDATE OF chunk, schema, origin, declared, fields ON pikerag.records
    FOR EACH STATEMENT EXECUTE FUNCTION pikerag.count_filterable();
CREATE TRIGGER filterable_structured_changed AFTER INSERT OR DELETE OR UPDATE OF hash ON pikerag.structured
    FOR EACH STATEMENT EXECUTE FUNCTION pikerag.count_filterable();
