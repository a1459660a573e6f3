-- The three layers, what was distilled, progress, and the ledger. Children go with their parents:
-- deleting a source takes with it exactly what derives from it.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('identity', lower(hex(randomblob(16))));

CREATE TABLE files (path TEXT PRIMARY KEY, hash TEXT NOT NULL, recipe TEXT NOT NULL) WITHOUT ROWID;

-- Layer I.
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL REFERENCES files(path) ON DELETE CASCADE,
    uri TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    hash TEXT NOT NULL,
    language TEXT,
    metadata TEXT NOT NULL,
    text TEXT NOT NULL,
    summary TEXT
);
CREATE INDEX sources_by_file ON sources(file);

-- Layer C.
CREATE TABLE sections (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
    parent INTEGER,
    ordinal INTEGER NOT NULL,
    level INTEGER NOT NULL,
    heading TEXT NOT NULL
);
CREATE INDEX sections_by_source ON sections(source);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
    section INTEGER,
    headings TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    page INTEGER,
    area TEXT,
    cells TEXT,
    summary TEXT,
    hidden INTEGER NOT NULL,
    generation INTEGER NOT NULL
);
CREATE INDEX chunks_by_source ON chunks(source, ordinal);
CREATE INDEX chunks_by_section ON chunks(section) WHERE section IS NOT NULL;
CREATE INDEX chunks_by_generation ON chunks(generation);
-- Pictures of chunks that are figures.
CREATE TABLE figures (
    chunk INTEGER PRIMARY KEY REFERENCES chunks(id) ON DELETE CASCADE,
    media_type TEXT NOT NULL,
    bytes BLOB NOT NULL
);
-- Chunks that full text has yet to forget.
CREATE TABLE gone (chunk INTEGER NOT NULL, generation INTEGER NOT NULL);
CREATE TABLE links (
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    target TEXT NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL
);
CREATE INDEX links_by_chunk ON links(chunk);
-- How a chunk uses a name: 0 mentions it, -1 links to it, else bears it with so many hundredths.
CREATE TABLE names (
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    how INTEGER NOT NULL,
    key INTEGER NOT NULL,
    PRIMARY KEY (chunk, how, key)
) WITHOUT ROWID;
CREATE INDEX names_by_key ON names(key, how, chunk);
CREATE INDEX names_borne ON names(key) WHERE how > 0;
-- What a document goes by: 0 its address, 1 its file, 2 its number, 3 its title; 4 parts of its title, by
-- which it refers to no other. Edges between documents are where these meet the names of chunks.
CREATE TABLE source_names (
    source INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
    how INTEGER NOT NULL,
    key INTEGER NOT NULL,
    PRIMARY KEY (source, how, key)
) WITHOUT ROWID;
CREATE INDEX source_names_by_key ON source_names(key, how, source);

-- Layer D.
CREATE TABLE atoms (
    id INTEGER PRIMARY KEY,
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX atoms_by_chunk ON atoms(chunk, kind, ordinal);

-- Records under a schema that was declared (`declared`: a hash of it); places count from the chunk's start.
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    schema TEXT NOT NULL,
    declared INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    origin TEXT NOT NULL,
    fields TEXT NOT NULL
);
CREATE INDEX records_by_chunk ON records(chunk, schema, ordinal);
CREATE INDEX records_by_schema ON records(schema, declared);

-- What chunks say of entities and relations. An entity or relation lives while a chunk mentions it;
-- its name, kind and description are derived from its mentions.
CREATE TABLE entities (id INTEGER PRIMARY KEY);
CREATE TABLE entity_mentions (
    entity INTEGER NOT NULL REFERENCES entities(id),
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (entity, chunk)
) WITHOUT ROWID;
CREATE INDEX entity_mentions_by_chunk ON entity_mentions(chunk, entity);
CREATE TABLE relations (
    id INTEGER PRIMARY KEY,
    subject INTEGER NOT NULL,
    object INTEGER NOT NULL
);
CREATE INDEX relations_by_subject ON relations(subject);
CREATE INDEX relations_by_object ON relations(object);
CREATE TABLE relation_mentions (
    relation INTEGER NOT NULL REFERENCES relations(id),
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    description TEXT NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (relation, chunk)
) WITHOUT ROWID;
CREATE INDEX relation_mentions_by_chunk ON relation_mentions(chunk, relation);
-- Summaries of all that is said of an entity or relation, where that is long.
CREATE TABLE descriptions (node INTEGER PRIMARY KEY, text TEXT NOT NULL);

CREATE TABLE communities (
    id INTEGER PRIMARY KEY,
    level INTEGER NOT NULL,
    parent INTEGER REFERENCES communities(id) ON DELETE SET NULL
);
CREATE INDEX communities_by_parent ON communities(parent);
CREATE TABLE members (
    community INTEGER NOT NULL REFERENCES communities(id) ON DELETE CASCADE,
    entity INTEGER NOT NULL,
    PRIMARY KEY (community, entity)
) WITHOUT ROWID;
CREATE INDEX members_by_entity ON members(entity, community);
CREATE TABLE reports (
    community INTEGER PRIMARY KEY REFERENCES communities(id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    rating REAL NOT NULL,
    findings TEXT NOT NULL,
    model TEXT
);

-- The tree: a summary goes with any of its children.
CREATE TABLE summaries (id INTEGER PRIMARY KEY, level INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX summaries_by_level ON summaries(level);
CREATE TABLE summary_children (
    summary INTEGER NOT NULL REFERENCES summaries(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    chunk INTEGER REFERENCES chunks(id) ON DELETE CASCADE,
    child INTEGER REFERENCES summaries(id) ON DELETE CASCADE,
    PRIMARY KEY (summary, ordinal)
) WITHOUT ROWID;
CREATE INDEX summary_children_by_chunk ON summary_children(chunk);
CREATE INDEX summary_children_by_child ON summary_children(child);

-- Vectors carry the model that made them.
CREATE TABLE chunk_vectors (
    node INTEGER PRIMARY KEY REFERENCES chunks(id) ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE TABLE atom_vectors (
    node INTEGER PRIMARY KEY REFERENCES atoms(id) ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE TABLE entity_vectors (
    node INTEGER PRIMARY KEY REFERENCES entities(id) ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE TABLE summary_vectors (
    node INTEGER PRIMARY KEY REFERENCES summaries(id) ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE TABLE source_vectors (
    node INTEGER PRIMARY KEY REFERENCES sources(id) ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE TABLE section_vectors (
    node INTEGER PRIMARY KEY REFERENCES sections(id) ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    vector BLOB NOT NULL
);

CREATE INDEX chunk_vectors_by_embedder ON chunk_vectors(embedder);
CREATE INDEX atom_vectors_by_embedder ON atom_vectors(embedder);
CREATE INDEX entity_vectors_by_embedder ON entity_vectors(embedder);
CREATE INDEX summary_vectors_by_embedder ON summary_vectors(embedder);
CREATE INDEX source_vectors_by_embedder ON source_vectors(embedder);
CREATE INDEX section_vectors_by_embedder ON section_vectors(embedder);

-- A source that is called otherwise now, or said to be about something else, is embedded again.
CREATE TRIGGER source_changed AFTER UPDATE OF title, summary ON sources
WHEN OLD.title IS NOT NEW.title OR OLD.summary IS NOT NEW.summary BEGIN
    DELETE FROM source_vectors WHERE node = NEW.id;
END;

-- What was made from mentions goes when they change: nothing derived from deleted text remains.
-- (`recursive_triggers` is on: a summary takes those above it along.)
CREATE TRIGGER entity_mentioned AFTER INSERT ON entity_mentions BEGIN
    DELETE FROM descriptions WHERE node = NEW.entity;
    DELETE FROM entity_vectors WHERE node = NEW.entity;
END;
CREATE TRIGGER entity_unmentioned AFTER DELETE ON entity_mentions BEGIN
    DELETE FROM descriptions WHERE node = OLD.entity;
    DELETE FROM entity_vectors WHERE node = OLD.entity;
    DELETE FROM communities WHERE id IN (SELECT community FROM members WHERE entity = OLD.entity);
    DELETE FROM entities WHERE id = OLD.entity
        AND NOT EXISTS (SELECT 1 FROM entity_mentions WHERE entity = OLD.entity);
END;
CREATE TRIGGER relation_mentioned AFTER INSERT ON relation_mentions BEGIN
    DELETE FROM descriptions WHERE node = NEW.relation;
END;
CREATE TRIGGER relation_unmentioned AFTER DELETE ON relation_mentions BEGIN
    DELETE FROM descriptions WHERE node = OLD.relation;
    DELETE FROM relations WHERE id = OLD.relation
        AND NOT EXISTS (SELECT 1 FROM relation_mentions WHERE relation = OLD.relation);
END;
CREATE TRIGGER description_made AFTER INSERT ON descriptions BEGIN
    DELETE FROM entity_vectors WHERE node = NEW.node;
END;
CREATE TRIGGER child_gone AFTER DELETE ON summary_children BEGIN
    DELETE FROM summaries WHERE id = OLD.summary;
END;

-- Tags. A class that was found in the documents lives while a chunk bears one of its tags, or one of its
-- examples was taken from a chunk; one that a person dropped stays as a mark, without anything below it.
CREATE TABLE tag_classes (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE,
    name TEXT NOT NULL,
    covers TEXT NOT NULL,
    origin TEXT NOT NULL
);
CREATE TABLE tag_examples (
    class INTEGER NOT NULL REFERENCES tag_classes(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL,
    chunk INTEGER REFERENCES chunks(id) ON DELETE CASCADE,
    PRIMARY KEY (class, ordinal)
) WITHOUT ROWID;
CREATE INDEX tag_examples_by_chunk ON tag_examples(chunk);
CREATE TABLE chunk_tags (
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    class INTEGER NOT NULL REFERENCES tag_classes(id) ON DELETE CASCADE,
    key INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (chunk, class, key)
) WITHOUT ROWID;
CREATE INDEX chunk_tags_by_key ON chunk_tags(key, class, chunk);
CREATE INDEX chunk_tags_by_class ON chunk_tags(class, key);
CREATE TABLE tag_pairs (
    colloquial_key INTEGER NOT NULL,
    professional_key INTEGER NOT NULL,
    colloquial TEXT NOT NULL,
    professional TEXT NOT NULL,
    class TEXT NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (colloquial_key, professional_key)
) WITHOUT ROWID;
CREATE INDEX tag_pairs_by_professional ON tag_pairs(professional_key);
CREATE TABLE tag_samples (
    colloquial_key INTEGER NOT NULL,
    professional_key INTEGER NOT NULL,
    sample INTEGER NOT NULL,
    PRIMARY KEY (colloquial_key, professional_key, sample),
    FOREIGN KEY (colloquial_key, professional_key) REFERENCES tag_pairs ON DELETE CASCADE
) WITHOUT ROWID;
-- A pair that was learned goes with the last chunk that bears its professional tag.
CREATE TRIGGER chunk_tag_gone AFTER DELETE ON chunk_tags BEGIN
    DELETE FROM tag_pairs WHERE professional_key = OLD.key AND origin = 'found'
        AND NOT EXISTS (SELECT 1 FROM chunk_tags WHERE key = OLD.key);
    DELETE FROM tag_classes WHERE id = OLD.class AND origin = 'found'
        AND NOT EXISTS (SELECT 1 FROM chunk_tags WHERE class = OLD.class)
        AND NOT EXISTS (SELECT 1 FROM tag_examples WHERE class = OLD.class);
END;
CREATE TRIGGER tag_example_gone AFTER DELETE ON tag_examples BEGIN
    DELETE FROM tag_classes WHERE id = OLD.class AND origin = 'found'
        AND NOT EXISTS (SELECT 1 FROM chunk_tags WHERE class = OLD.class)
        AND NOT EXISTS (SELECT 1 FROM tag_examples WHERE class = OLD.class);
END;

-- A stage's mark is written in the transaction that writes its result.
CREATE TABLE progress (
    stage TEXT NOT NULL,
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    PRIMARY KEY (stage, chunk)
) WITHOUT ROWID;
CREATE INDEX progress_by_chunk ON progress(chunk);

-- Records are read from cells and from what a document says of itself, too: other cells, read again.
CREATE TRIGGER source_retold AFTER UPDATE OF metadata ON sources WHEN OLD.metadata <> NEW.metadata BEGIN
    DELETE FROM records WHERE chunk IN (SELECT id FROM chunks WHERE source = NEW.id);
    DELETE FROM progress WHERE stage LIKE 'records:%' AND chunk IN (SELECT id FROM chunks WHERE source = NEW.id);
END;
CREATE TRIGGER chunk_retold AFTER UPDATE OF cells, ordinal, kind ON chunks
WHEN OLD.cells IS NOT NEW.cells OR OLD.kind <> NEW.kind OR (OLD.ordinal = 0) <> (NEW.ordinal = 0) BEGIN
    DELETE FROM records WHERE chunk = NEW.id;
    DELETE FROM progress WHERE stage LIKE 'records:%' AND chunk = NEW.id;
END;

-- Every model call, under the hash of the whole request. Never deleted with a source.
CREATE TABLE calls (
    key TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    model TEXT NOT NULL,
    request TEXT NOT NULL,
    reply TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL
);
