-- What a filter admits, seen through views that stand before the tables of the same name: whatever is read
-- in this snapshot, it is read through them. The functions `admitted(chunk)` and `admitted_section(section)` say what is seen;
-- `scope.rs` replaces them by lists where these are short. `+` keeps the planner from looking up each chunk of a list for each
-- name or entity, where an index ends with the chunk.
CREATE TEMP VIEW chunks AS SELECT * FROM main.chunks WHERE admitted(id);
CREATE TEMP VIEW sources AS
    SELECT id, file, uri, title, media_type, hash, language, metadata, text,
        CASE WHEN NOT EXISTS (SELECT 1 FROM main.chunks c WHERE c.source = s.id AND NOT admitted(c.id))
            THEN summary END AS summary
    FROM main.sources s
    WHERE EXISTS (SELECT 1 FROM main.chunks c WHERE c.source = s.id AND admitted(+c.id));
CREATE TEMP VIEW files AS
    SELECT * FROM main.files f WHERE EXISTS (SELECT 1 FROM temp.sources s WHERE s.file = f.path);
-- A section is seen by what is seen in it, or in a section below it: the headings above a chunk are told with the chunk.
CREATE TEMP VIEW sections AS SELECT * FROM main.sections WHERE admitted_section(id);
CREATE TEMP VIEW figures AS SELECT * FROM main.figures WHERE admitted(chunk);
CREATE TEMP VIEW links AS SELECT * FROM main.links WHERE admitted(chunk);
CREATE TEMP VIEW names AS SELECT * FROM main.names WHERE admitted(+chunk);
CREATE TEMP VIEW source_names AS
    SELECT * FROM main.source_names n WHERE EXISTS (SELECT 1 FROM temp.sources s WHERE s.id = n.source);
CREATE TEMP VIEW atoms AS SELECT * FROM main.atoms WHERE admitted(chunk);
-- The names in a schema that a question derived come from all passages that it was derived from.
CREATE TEMP VIEW structured AS
    SELECT * FROM main.structured x
    WHERE NOT EXISTS (SELECT 1 FROM main.structured_basis b WHERE b.structured = x.hash AND NOT admitted(b.chunk));
CREATE TEMP VIEW structured_basis AS
    SELECT * FROM main.structured_basis b WHERE b.structured IN (SELECT x.hash FROM temp.structured x);
CREATE TEMP VIEW structured_reads AS
    SELECT * FROM main.structured_reads r
    WHERE admitted(r.chunk) AND r.structured IN (SELECT x.hash FROM temp.structured x);
CREATE TEMP VIEW records AS
    SELECT * FROM main.records r
    WHERE admitted(r.chunk) AND (r.declared NOT IN (SELECT y.hash FROM main.structured y)
        OR r.declared IN (SELECT x.hash FROM temp.structured x));
CREATE TEMP VIEW progress AS SELECT * FROM main.progress WHERE admitted(chunk);
-- The rows of a table are seen by a condition that each query over them has.
CREATE TEMP VIEW data_chunks AS SELECT * FROM main.data_chunks WHERE admitted(chunk);
CREATE TEMP VIEW data_tables AS
    SELECT * FROM main.data_tables t
    WHERE EXISTS (SELECT 1 FROM main.data_chunks d WHERE d.data = t.id AND admitted(+d.chunk));
CREATE TEMP VIEW data_parts AS
    SELECT * FROM main.data_parts p
    WHERE NOT EXISTS (SELECT 1 FROM main.data_chunks d
        WHERE d.data = p.data AND d.source = p.source AND NOT admitted(d.chunk));

-- What single chunks say of entities; what is put together of all that is said must rest on admitted chunks alone.
CREATE TEMP VIEW entity_mentions AS SELECT * FROM main.entity_mentions WHERE admitted(+chunk);
CREATE TEMP VIEW relation_mentions AS SELECT * FROM main.relation_mentions WHERE admitted(+chunk);
CREATE TEMP VIEW entities AS
    SELECT * FROM main.entities e
    WHERE EXISTS (SELECT 1 FROM main.entity_mentions m WHERE m.entity = e.id AND admitted(+m.chunk));
CREATE TEMP VIEW relations AS
    SELECT * FROM main.relations r
    WHERE EXISTS (SELECT 1 FROM main.relation_mentions m WHERE m.relation = r.id AND admitted(+m.chunk));
CREATE TEMP VIEW descriptions AS
    SELECT * FROM main.descriptions d
    WHERE NOT EXISTS (SELECT 1 FROM main.entity_mentions m WHERE m.entity = d.node AND NOT admitted(m.chunk))
      AND NOT EXISTS (SELECT 1 FROM main.relation_mentions m WHERE m.relation = d.node AND NOT admitted(m.chunk));
CREATE TEMP VIEW whole_communities AS
    SELECT * FROM main.communities c
    WHERE NOT EXISTS (
        SELECT 1 FROM main.members n JOIN main.entity_mentions m ON m.entity = n.entity
        WHERE n.community = c.id AND NOT admitted(m.chunk));
CREATE TEMP VIEW communities AS
    SELECT id, level, CASE WHEN parent IN (SELECT w.id FROM temp.whole_communities w WHERE w.id = c.parent)
        THEN parent END AS parent
    FROM temp.whole_communities c;
CREATE TEMP VIEW members AS
    SELECT * FROM main.members n WHERE EXISTS (SELECT 1 FROM temp.whole_communities c WHERE c.id = n.community);
CREATE TEMP VIEW reports AS
    SELECT * FROM main.reports r WHERE EXISTS (SELECT 1 FROM temp.whole_communities c WHERE c.id = r.community);
CREATE TEMP VIEW summaries AS
    SELECT * FROM main.summaries x
    WHERE NOT EXISTS (
        WITH RECURSIVE below(id) AS (
            SELECT x.id
            UNION
            SELECT k.child FROM main.summary_children k JOIN below b ON k.summary = b.id WHERE k.child IS NOT NULL
        )
        SELECT 1 FROM below b JOIN main.summary_children k ON k.summary = b.id
        WHERE k.chunk IS NOT NULL AND NOT admitted(k.chunk));
CREATE TEMP VIEW summary_children AS
    SELECT * FROM main.summary_children k WHERE EXISTS (SELECT 1 FROM temp.summaries x WHERE x.id = k.summary);

-- A class or pair is seen where a chunk that is seen bears it. One that is declared and that no chunk bears is seen, too.
CREATE TEMP VIEW chunk_tags AS SELECT * FROM main.chunk_tags WHERE admitted(chunk);
CREATE TEMP VIEW tag_examples AS
    SELECT * FROM main.tag_examples WHERE chunk IS NULL OR admitted(chunk);
CREATE TEMP VIEW tag_classes AS
    SELECT * FROM main.tag_classes c WHERE origin = 'dropped'
        OR (origin <> 'found' AND NOT EXISTS (SELECT 1 FROM main.chunk_tags t WHERE t.class = c.id))
        OR EXISTS (SELECT 1 FROM main.chunk_tags t WHERE t.class = c.id AND admitted(+t.chunk))
        OR EXISTS (SELECT 1 FROM main.tag_examples e WHERE e.class = c.id AND admitted(+e.chunk));
CREATE TEMP VIEW tag_pairs AS
    SELECT * FROM main.tag_pairs p WHERE (origin <> 'found' AND NOT EXISTS (SELECT 1 FROM main.chunk_tags t WHERE t.key = p.professional_key))
        OR EXISTS (SELECT 1 FROM main.chunk_tags t WHERE t.key = p.professional_key AND admitted(+t.chunk));

-- What a person said of an answer is seen by who may see every chunk that the answer was written from or rests on.
CREATE TEMP VIEW verified AS
    SELECT * FROM main.verified v
    WHERE EXISTS (SELECT 1 FROM main.verified_chunks c WHERE c.verified = v.id)
      AND NOT EXISTS (SELECT 1 FROM main.verified_chunks c WHERE c.verified = v.id AND NOT admitted(c.chunk));
CREATE TEMP VIEW verified_chunks AS
    SELECT * FROM main.verified_chunks c WHERE EXISTS (SELECT 1 FROM temp.verified v WHERE v.id = c.verified);

CREATE TEMP VIEW chunk_vectors AS SELECT * FROM main.chunk_vectors WHERE admitted(node);
CREATE TEMP VIEW atom_vectors AS
    SELECT * FROM main.atom_vectors v
    WHERE EXISTS (SELECT 1 FROM main.atoms a WHERE a.id = v.node AND admitted(a.chunk));
CREATE TEMP VIEW entity_vectors AS
    SELECT * FROM main.entity_vectors v WHERE EXISTS (SELECT 1 FROM temp.entities e WHERE e.id = v.node);
CREATE TEMP VIEW summary_vectors AS
    SELECT * FROM main.summary_vectors v WHERE EXISTS (SELECT 1 FROM temp.summaries x WHERE x.id = v.node);
CREATE TEMP VIEW source_vectors AS
    SELECT * FROM main.source_vectors v WHERE EXISTS (SELECT 1 FROM temp.sources s WHERE s.id = v.node);
CREATE TEMP VIEW section_vectors AS
    SELECT * FROM main.section_vectors v WHERE EXISTS (SELECT 1 FROM temp.sections x WHERE x.id = v.node);
