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
    text TEXT NOT NULL
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
    cells TEXT,
    generation INTEGER NOT NULL
);
CREATE INDEX chunks_by_source ON chunks(source);
CREATE INDEX chunks_by_generation ON chunks(generation);
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

-- Layer D.
CREATE TABLE atoms (
    id INTEGER PRIMARY KEY,
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX atoms_by_chunk ON atoms(chunk, kind, ordinal);

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

CREATE INDEX chunk_vectors_by_embedder ON chunk_vectors(embedder);
CREATE INDEX atom_vectors_by_embedder ON atom_vectors(embedder);

-- A stage's mark is written in the transaction that writes its result.
CREATE TABLE progress (
    stage TEXT NOT NULL,
    chunk INTEGER NOT NULL REFERENCES chunks(id) ON DELETE CASCADE,
    PRIMARY KEY (stage, chunk)
) WITHOUT ROWID;
CREATE INDEX progress_by_chunk ON progress(chunk);

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
