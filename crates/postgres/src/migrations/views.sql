-- Makes the views of the current base again, after any migration: one for each table of bases, with its name. They are simple
-- enough that PostgreSQL also writes through them.
CREATE OR REPLACE FUNCTION pikerag.make_views() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held text;
BEGIN
    FOR held IN SELECT c.table_name FROM information_schema.columns c
        JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE c.table_schema = 'pikerag' AND c.column_name = 'base' AND t.table_type = 'BASE TABLE'
    LOOP
        EXECUTE format('DROP VIEW IF EXISTS pikerag_base.%I CASCADE', held);
        EXECUTE format(
            'CREATE VIEW pikerag_base.%I AS SELECT * FROM pikerag.%I WHERE base = pikerag.this_base()', held, held);
    END LOOP;
END $$;
SELECT pikerag.make_views();

-- Deletes a base with all of its rows. Documents go first, and take along what refers to them.
CREATE OR REPLACE FUNCTION pikerag.remove_base(gone integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held text;
BEGIN
    -- First, so that no trigger stores a count for it.
    DELETE FROM pikerag.bases WHERE id = gone;
    DELETE FROM pikerag.files WHERE base = gone;
    DELETE FROM pikerag.runs WHERE base = gone;
    DELETE FROM pikerag.communities WHERE base = gone;
    DELETE FROM pikerag.summaries WHERE base = gone;
    DELETE FROM pikerag.jobs WHERE base = gone;
    FOR held IN SELECT c.table_name FROM information_schema.columns c
        JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE c.table_schema = 'pikerag' AND c.column_name = 'base' AND t.table_type = 'BASE TABLE'
    LOOP
        EXECUTE format('DELETE FROM pikerag.%I WHERE base = %s', held, gone);
    END LOOP;
END $$;
