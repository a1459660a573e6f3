-- What a filter admits, as temporary views with the names of the tables. A connection makes them once. They count only in
-- transactions whose search path begins with `pg_temp`. Both lists are filled in such a transaction. They stay, with a label
-- that names the base, its state and the filters, until another filter fills them.
CREATE TEMP TABLE admitted (chunk bigint PRIMARY KEY);
CREATE TEMP TABLE admitted_sections (section bigint PRIMARY KEY);
CREATE TEMP TABLE admitted_of (label text NOT NULL);
CREATE TEMP VIEW chunks AS SELECT * FROM pikerag_base.chunks WHERE id IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW sources AS
    SELECT base, id, file, uri, title, media_type, hash, language, metadata, text, length,
        CASE WHEN NOT EXISTS (SELECT 1 FROM pikerag_base.chunks c WHERE c.source = s.id AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = c.id))
            THEN summary END AS summary
    FROM pikerag_base.sources s
    WHERE EXISTS (SELECT 1 FROM pikerag_base.chunks c WHERE c.source = s.id AND c.id IN (SELECT chunk FROM pg_temp.admitted));
CREATE TEMP VIEW files AS
    SELECT * FROM pikerag_base.files f WHERE EXISTS (SELECT 1 FROM pg_temp.sources s WHERE s.file = f.path);
-- A section is seen by what is seen in it, or in a section below it: a chunk shows the headings above it.
CREATE TEMP VIEW sections AS SELECT * FROM pikerag_base.sections WHERE id IN (SELECT section FROM pg_temp.admitted_sections);
CREATE TEMP VIEW figures AS SELECT * FROM pikerag_base.figures WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW links AS SELECT * FROM pikerag_base.links WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW names AS SELECT * FROM pikerag_base.names WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW source_names AS
    SELECT * FROM pikerag_base.source_names n WHERE EXISTS (SELECT 1 FROM pg_temp.sources s WHERE s.id = n.source);
CREATE TEMP VIEW atoms AS SELECT * FROM pikerag_base.atoms WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
-- The names in a schema that a question derived come from all passages that it was derived from.
CREATE TEMP VIEW structured AS
    SELECT * FROM pikerag_base.structured x
    WHERE NOT EXISTS (SELECT 1 FROM pikerag_base.structured_basis b WHERE b.structured = x.hash AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = b.chunk));
CREATE TEMP VIEW structured_basis AS
    SELECT * FROM pikerag_base.structured_basis b WHERE b.structured IN (SELECT x.hash FROM pg_temp.structured x);
CREATE TEMP VIEW structured_reads AS
    SELECT * FROM pikerag_base.structured_reads r
    WHERE r.chunk IN (SELECT chunk FROM pg_temp.admitted) AND r.structured IN (SELECT x.hash FROM pg_temp.structured x);
CREATE TEMP VIEW records AS
    SELECT * FROM pikerag_base.records r
    WHERE r.chunk IN (SELECT chunk FROM pg_temp.admitted) AND (r.declared NOT IN (SELECT y.hash FROM pikerag_base.structured y)
        OR r.declared IN (SELECT x.hash FROM pg_temp.structured x));
CREATE TEMP VIEW progress AS SELECT * FROM pikerag_base.progress WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
-- The rows of a table are seen by a condition that each query over them has.
CREATE TEMP VIEW data_chunks AS SELECT * FROM pikerag_base.data_chunks WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW data_tables AS
    SELECT * FROM pikerag_base.data_tables t
    WHERE EXISTS (SELECT 1 FROM pikerag_base.data_chunks d WHERE d.data = t.id AND d.chunk IN (SELECT chunk FROM pg_temp.admitted));
CREATE TEMP VIEW data_parts AS
    SELECT * FROM pikerag_base.data_parts p
    WHERE NOT EXISTS (SELECT 1 FROM pikerag_base.data_chunks d
        WHERE d.data = p.data AND d.source = p.source AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = d.chunk));

-- Mentions of single chunks; results from all mentions must rest on admitted chunks alone.
CREATE TEMP VIEW entity_mentions AS SELECT * FROM pikerag_base.entity_mentions WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW relation_mentions AS SELECT * FROM pikerag_base.relation_mentions WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW entities AS
    SELECT * FROM pikerag_base.entities e
    WHERE EXISTS (SELECT 1 FROM pikerag_base.entity_mentions m WHERE m.entity = e.id AND m.chunk IN (SELECT chunk FROM pg_temp.admitted));
CREATE TEMP VIEW relations AS
    SELECT * FROM pikerag_base.relations r
    WHERE EXISTS (SELECT 1 FROM pikerag_base.relation_mentions m WHERE m.relation = r.id AND m.chunk IN (SELECT chunk FROM pg_temp.admitted));
CREATE TEMP VIEW descriptions AS
    SELECT * FROM pikerag_base.descriptions d
    WHERE NOT EXISTS (SELECT 1 FROM pikerag_base.entity_mentions m WHERE m.entity = d.node AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = m.chunk))
      AND NOT EXISTS (SELECT 1 FROM pikerag_base.relation_mentions m WHERE m.relation = d.node AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = m.chunk));
CREATE TEMP VIEW whole_communities AS
    SELECT * FROM pikerag_base.communities c
    WHERE NOT EXISTS (
        SELECT 1 FROM pikerag_base.members n JOIN pikerag_base.entity_mentions m ON m.entity = n.entity
        WHERE n.community = c.id AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = m.chunk));
CREATE TEMP VIEW communities AS
    SELECT base, id, level, CASE WHEN parent IN (SELECT w.id FROM pg_temp.whole_communities w WHERE w.id = c.parent)
        THEN parent END AS parent
    FROM pg_temp.whole_communities c;
CREATE TEMP VIEW members AS
    SELECT * FROM pikerag_base.members n WHERE EXISTS (SELECT 1 FROM pg_temp.whole_communities c WHERE c.id = n.community);
CREATE TEMP VIEW reports AS
    SELECT * FROM pikerag_base.reports r WHERE EXISTS (SELECT 1 FROM pg_temp.whole_communities c WHERE c.id = r.community);
CREATE TEMP VIEW summaries AS
    SELECT * FROM pikerag_base.summaries x
    WHERE NOT EXISTS (
        WITH RECURSIVE below(id) AS (
            SELECT x.id
            UNION
            SELECT k.child FROM pikerag_base.summary_children k JOIN below b ON k.summary = b.id WHERE k.child IS NOT NULL
        )
        SELECT 1 FROM below b JOIN pikerag_base.summary_children k ON k.summary = b.id
        WHERE k.chunk IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = k.chunk));
CREATE TEMP VIEW summary_children AS
    SELECT * FROM pikerag_base.summary_children k WHERE EXISTS (SELECT 1 FROM pg_temp.summaries x WHERE x.id = k.summary);

-- A class or pair is visible if a visible chunk has it. A declared one that no chunk has is visible, too.
CREATE TEMP VIEW chunk_tags AS SELECT * FROM pikerag_base.chunk_tags WHERE chunk IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW tag_examples AS
    SELECT * FROM pikerag_base.tag_examples WHERE chunk IS NULL OR chunk IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW tag_classes AS
    SELECT * FROM pikerag_base.tag_classes c WHERE origin = 'dropped'
        OR (origin <> 'found' AND NOT EXISTS (SELECT 1 FROM pikerag_base.chunk_tags t WHERE t.class = c.id))
        OR EXISTS (SELECT 1 FROM pikerag_base.chunk_tags t WHERE t.class = c.id AND t.chunk IN (SELECT chunk FROM pg_temp.admitted))
        OR EXISTS (SELECT 1 FROM pikerag_base.tag_examples e WHERE e.class = c.id AND e.chunk IN (SELECT chunk FROM pg_temp.admitted));
CREATE TEMP VIEW tag_pairs AS
    SELECT * FROM pikerag_base.tag_pairs p WHERE (origin <> 'found' AND NOT EXISTS (SELECT 1 FROM pikerag_base.chunk_tags t WHERE t.key = p.professional_key))
        OR EXISTS (SELECT 1 FROM pikerag_base.chunk_tags t WHERE t.key = p.professional_key AND t.chunk IN (SELECT chunk FROM pg_temp.admitted));

-- A judgment of an answer is visible if every chunk is that the answer was written from or rests on.
CREATE TEMP VIEW verified AS
    SELECT * FROM pikerag_base.verified v
    WHERE EXISTS (SELECT 1 FROM pikerag_base.verified_chunks c WHERE c.verified = v.id)
      AND NOT EXISTS (SELECT 1 FROM pikerag_base.verified_chunks c WHERE c.verified = v.id AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = c.chunk));
CREATE TEMP VIEW verified_chunks AS
    SELECT * FROM pikerag_base.verified_chunks c WHERE EXISTS (SELECT 1 FROM pg_temp.verified v WHERE v.id = c.verified);

CREATE TEMP VIEW chunk_vectors AS SELECT * FROM pikerag_base.chunk_vectors WHERE node IN (SELECT chunk FROM pg_temp.admitted);
CREATE TEMP VIEW atom_vectors AS
    SELECT * FROM pikerag_base.atom_vectors v
    WHERE EXISTS (SELECT 1 FROM pikerag_base.atoms a WHERE a.id = v.node AND a.chunk IN (SELECT chunk FROM pg_temp.admitted));
CREATE TEMP VIEW entity_vectors AS
    SELECT * FROM pikerag_base.entity_vectors v WHERE EXISTS (SELECT 1 FROM pg_temp.entities e WHERE e.id = v.node);
CREATE TEMP VIEW summary_vectors AS
    SELECT * FROM pikerag_base.summary_vectors v WHERE EXISTS (SELECT 1 FROM pg_temp.summaries x WHERE x.id = v.node);
CREATE TEMP VIEW source_vectors AS
    SELECT * FROM pikerag_base.source_vectors v WHERE EXISTS (SELECT 1 FROM pg_temp.sources s WHERE s.id = v.node);
CREATE TEMP VIEW section_vectors AS
    SELECT * FROM pikerag_base.section_vectors v WHERE EXISTS (SELECT 1 FROM pg_temp.sections x WHERE x.id = v.node);
