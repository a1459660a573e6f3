-- All bases of a database are in these tables. `base` comes first in every key and index, and its default is the base of the
-- transaction (`pikerag.base`). Statements use the views of `pikerag_base` (see `views.sql`), which show that base alone.
-- Numbers are BIGINT. Texts compare byte by byte (COLLATE "C"). JSON is TEXT, since JSONB changes what it holds.
-- A text that may hold the character U+0000 is escaped (`rows.rs`).

CREATE FUNCTION pikerag.this_base() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT current_setting('pikerag.base')::integer $$;

-- A number is never used again, so it distinguishes a base from others that had its name before.
CREATE TABLE pikerag.bases (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
);

CREATE TABLE pikerag.meta (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    key text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, key)
);

CREATE TABLE pikerag.files (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    path text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    recipe text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, path)
);
CREATE INDEX files_by_hash ON pikerag.files (base, hash);

-- Layer I.
CREATE TABLE pikerag.sources (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    file text COLLATE "C" NOT NULL,
    uri text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    media_type text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    language text COLLATE "C",
    metadata text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    -- Bytes of the text before it is escaped.
    length bigint NOT NULL,
    summary text COLLATE "C",
    PRIMARY KEY (base, id),
    FOREIGN KEY (base, file) REFERENCES pikerag.files ON DELETE CASCADE
);
-- An address may be too long for an index.
CREATE UNIQUE INDEX sources_by_uri ON pikerag.sources (base, md5(uri));
CREATE INDEX sources_by_file ON pikerag.sources (base, file);

-- Layer C.
CREATE TABLE pikerag.sections (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    source bigint NOT NULL,
    parent bigint,
    ordinal bigint NOT NULL,
    level bigint NOT NULL,
    heading text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, id),
    FOREIGN KEY (base, source) REFERENCES pikerag.sources ON DELETE CASCADE
);
CREATE INDEX sections_by_source ON pikerag.sections (base, source);
CREATE TABLE pikerag.chunks (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    source bigint NOT NULL,
    section bigint,
    headings text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    span_start bigint NOT NULL,
    span_end bigint NOT NULL,
    page bigint,
    area text COLLATE "C",
    cells text COLLATE "C",
    boxes text COLLATE "C",
    summary text COLLATE "C",
    hidden boolean NOT NULL,
    generation bigint NOT NULL,
    -- `Chunk::is_searchable`: a figure without a summary whose text is only its number is not.
    searchable boolean NOT NULL GENERATED ALWAYS AS
        (NOT hidden AND (summary IS NOT NULL OR kind <> 'figure' OR text !~ '^\[Figure [0-9]+\]$')) STORED,
    PRIMARY KEY (base, id),
    FOREIGN KEY (base, source) REFERENCES pikerag.sources ON DELETE CASCADE
);
CREATE INDEX chunks_by_source ON pikerag.chunks (base, source, ordinal);
CREATE INDEX chunks_by_section ON pikerag.chunks (base, section) WHERE section IS NOT NULL;
CREATE TABLE pikerag.figures (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    chunk bigint NOT NULL,
    media_type text COLLATE "C" NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (base, chunk),
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE TABLE pikerag.links (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    chunk bigint NOT NULL,
    target text COLLATE "C" NOT NULL,
    span_start bigint NOT NULL,
    span_end bigint NOT NULL,
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX links_by_chunk ON pikerag.links (base, chunk);
-- How a chunk uses a name: 0 mentions it, -1 links to it, else bears it with a weight in hundredths.
CREATE TABLE pikerag.names (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    chunk bigint NOT NULL,
    how bigint NOT NULL,
    key bigint NOT NULL,
    PRIMARY KEY (base, chunk, how, key),
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX names_by_key ON pikerag.names (base, key, how, chunk);
-- The names of a document: 0 its address, 1 its file, 2 its number, 3 its title, 4 parts of its title.
CREATE TABLE pikerag.source_names (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    source bigint NOT NULL,
    how bigint NOT NULL,
    key bigint NOT NULL,
    PRIMARY KEY (base, source, how, key),
    FOREIGN KEY (base, source) REFERENCES pikerag.sources ON DELETE CASCADE
);
CREATE INDEX source_names_by_key ON pikerag.source_names (base, key, how, source);

-- Full text, written with the chunk. `length` counts all terms of a chunk's searched text, `digest` is a hash of that text.
CREATE TABLE pikerag.chunk_words (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    chunk bigint NOT NULL,
    length bigint NOT NULL,
    digest bigint NOT NULL,
    PRIMARY KEY (base, chunk),
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
-- How often a chunk contains a term; `length` is that of `chunk_words`, so that one index gives a score.
CREATE TABLE pikerag.words (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    term text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    times integer NOT NULL,
    length integer NOT NULL,
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunk_words ON DELETE CASCADE
);
CREATE UNIQUE INDEX words_by_term ON pikerag.words (base, term, chunk) INCLUDE (times, length);
CREATE INDEX words_by_chunk ON pikerag.words (base, chunk);

-- Layer D.
CREATE TABLE pikerag.atoms (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    chunk bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, id),
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX atoms_by_chunk ON pikerag.atoms (base, chunk, kind, ordinal);
CREATE TABLE pikerag.records (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    chunk bigint NOT NULL,
    schema text COLLATE "C" NOT NULL,
    declared bigint NOT NULL,
    ordinal bigint NOT NULL,
    span_start bigint NOT NULL,
    span_end bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,
    fields text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, id),
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX records_by_chunk ON pikerag.records (base, chunk, schema, ordinal);
CREATE INDEX records_by_schema ON pikerag.records (base, schema, declared);

-- An entity or relation exists while a chunk mentions it.
CREATE TABLE pikerag.entities (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    PRIMARY KEY (base, id)
);
CREATE TABLE pikerag.entity_mentions (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    entity bigint NOT NULL,
    chunk bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, entity, chunk),
    FOREIGN KEY (base, entity) REFERENCES pikerag.entities,
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX entity_mentions_by_chunk ON pikerag.entity_mentions (base, chunk, entity);
CREATE TABLE pikerag.relations (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    subject bigint NOT NULL,
    object bigint NOT NULL,
    PRIMARY KEY (base, id)
);
CREATE INDEX relations_by_subject ON pikerag.relations (base, subject);
CREATE INDEX relations_by_object ON pikerag.relations (base, object);
CREATE TABLE pikerag.relation_mentions (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    relation bigint NOT NULL,
    chunk bigint NOT NULL,
    description text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,
    PRIMARY KEY (base, relation, chunk),
    FOREIGN KEY (base, relation) REFERENCES pikerag.relations,
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX relation_mentions_by_chunk ON pikerag.relation_mentions (base, chunk, relation);
CREATE TABLE pikerag.descriptions (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    node bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, node)
);
CREATE TABLE pikerag.communities (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    level bigint NOT NULL,
    parent bigint,
    PRIMARY KEY (base, id),
    FOREIGN KEY (base, parent) REFERENCES pikerag.communities ON DELETE SET NULL (parent)
);
CREATE INDEX communities_by_parent ON pikerag.communities (base, parent);
CREATE TABLE pikerag.members (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    community bigint NOT NULL,
    entity bigint NOT NULL,
    PRIMARY KEY (base, community, entity),
    FOREIGN KEY (base, community) REFERENCES pikerag.communities ON DELETE CASCADE
);
CREATE INDEX members_by_entity ON pikerag.members (base, entity, community);
CREATE TABLE pikerag.reports (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    community bigint NOT NULL,
    title text COLLATE "C" NOT NULL,
    summary text COLLATE "C" NOT NULL,
    rating double precision NOT NULL,
    findings text COLLATE "C" NOT NULL,
    model text COLLATE "C",
    PRIMARY KEY (base, community),
    FOREIGN KEY (base, community) REFERENCES pikerag.communities ON DELETE CASCADE
);
-- The tree: a summary goes with any of its children.
CREATE TABLE pikerag.summaries (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    level bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, id)
);
CREATE INDEX summaries_by_level ON pikerag.summaries (base, level);
CREATE TABLE pikerag.summary_children (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    summary bigint NOT NULL,
    ordinal bigint NOT NULL,
    chunk bigint,
    child bigint,
    PRIMARY KEY (base, summary, ordinal),
    FOREIGN KEY (base, summary) REFERENCES pikerag.summaries ON DELETE CASCADE,
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE,
    FOREIGN KEY (base, child) REFERENCES pikerag.summaries ON DELETE CASCADE
);
CREATE INDEX summary_children_by_chunk ON pikerag.summary_children (base, chunk);
CREATE INDEX summary_children_by_child ON pikerag.summary_children (base, child);

-- Vectors carry the model that made them, and their number of components: a set may hold vectors of two models.
-- `owner`: the chunk that a vector leads to, or its own node. HNSW indexes are made for one base and length (`vectors.rs`).
CREATE TABLE pikerag.chunk_vectors (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    node bigint NOT NULL,
    owner bigint NOT NULL,
    embedder text COLLATE "C" NOT NULL,
    dims integer NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (base, node),
    FOREIGN KEY (base, node) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE TABLE pikerag.atom_vectors (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    node bigint NOT NULL,
    owner bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    embedder text COLLATE "C" NOT NULL,
    dims integer NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (base, node),
    FOREIGN KEY (base, node) REFERENCES pikerag.atoms ON DELETE CASCADE
);
CREATE TABLE pikerag.entity_vectors (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    node bigint NOT NULL,
    owner bigint NOT NULL,
    embedder text COLLATE "C" NOT NULL,
    dims integer NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (base, node),
    FOREIGN KEY (base, node) REFERENCES pikerag.entities ON DELETE CASCADE
);
CREATE TABLE pikerag.summary_vectors (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    node bigint NOT NULL,
    owner bigint NOT NULL,
    embedder text COLLATE "C" NOT NULL,
    dims integer NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (base, node),
    FOREIGN KEY (base, node) REFERENCES pikerag.summaries ON DELETE CASCADE
);
CREATE TABLE pikerag.source_vectors (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    node bigint NOT NULL,
    owner bigint NOT NULL,
    embedder text COLLATE "C" NOT NULL,
    dims integer NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (base, node),
    FOREIGN KEY (base, node) REFERENCES pikerag.sources ON DELETE CASCADE
);
CREATE TABLE pikerag.section_vectors (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    node bigint NOT NULL,
    owner bigint NOT NULL,
    embedder text COLLATE "C" NOT NULL,
    dims integer NOT NULL,
    vector vector NOT NULL,
    PRIMARY KEY (base, node),
    FOREIGN KEY (base, node) REFERENCES pikerag.sections ON DELETE CASCADE
);
CREATE INDEX chunk_vectors_by_embedder ON pikerag.chunk_vectors (base, embedder, dims, node);
CREATE INDEX atom_vectors_by_embedder ON pikerag.atom_vectors (base, kind, embedder, dims, node);
CREATE INDEX entity_vectors_by_embedder ON pikerag.entity_vectors (base, embedder, dims, node);
CREATE INDEX summary_vectors_by_embedder ON pikerag.summary_vectors (base, embedder, dims, node);
CREATE INDEX source_vectors_by_embedder ON pikerag.source_vectors (base, embedder, dims, node);
CREATE INDEX section_vectors_by_embedder ON pikerag.section_vectors (base, embedder, dims, node);

-- Tags. A dropped class stays as a mark.
CREATE TABLE pikerag.tag_classes (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    key bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    covers text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, id),
    UNIQUE (base, key)
);
CREATE TABLE pikerag.tag_examples (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    class bigint NOT NULL,
    ordinal bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    chunk bigint,
    PRIMARY KEY (base, class, ordinal),
    FOREIGN KEY (base, class) REFERENCES pikerag.tag_classes ON DELETE CASCADE,
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX tag_examples_by_chunk ON pikerag.tag_examples (base, chunk);
CREATE TABLE pikerag.chunk_tags (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    chunk bigint NOT NULL,
    class bigint NOT NULL,
    key bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, chunk, class, key),
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE,
    FOREIGN KEY (base, class) REFERENCES pikerag.tag_classes ON DELETE CASCADE
);
CREATE INDEX chunk_tags_by_key ON pikerag.chunk_tags (base, key, class, chunk);
CREATE INDEX chunk_tags_by_class ON pikerag.chunk_tags (base, class, key);
CREATE TABLE pikerag.tag_pairs (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    colloquial_key bigint NOT NULL,
    professional_key bigint NOT NULL,
    colloquial text COLLATE "C" NOT NULL,
    professional text COLLATE "C" NOT NULL,
    class text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, colloquial_key, professional_key)
);
CREATE INDEX tag_pairs_by_professional ON pikerag.tag_pairs (base, professional_key);
CREATE TABLE pikerag.tag_samples (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    colloquial_key bigint NOT NULL,
    professional_key bigint NOT NULL,
    sample bigint NOT NULL,
    PRIMARY KEY (base, colloquial_key, professional_key, sample),
    FOREIGN KEY (base, colloquial_key, professional_key) REFERENCES pikerag.tag_pairs ON DELETE CASCADE
);

-- A stage's mark is written in the transaction that writes its result.
CREATE TABLE pikerag.progress (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    stage text COLLATE "C" NOT NULL,
    chunk bigint NOT NULL,
    PRIMARY KEY (base, stage, chunk),
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX progress_by_chunk ON pikerag.progress (base, chunk);
CREATE TABLE pikerag.refusals (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    stage text COLLATE "C" NOT NULL,
    node bigint NOT NULL,
    of_chunk boolean NOT NULL,
    label text COLLATE "C" NOT NULL,
    cause text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, stage, node)
);
CREATE INDEX refusals_by_node ON pikerag.refusals (base, node);

-- Every model call, under the hash of the whole request.
CREATE TABLE pikerag.calls (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    key text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    request text COLLATE "C" NOT NULL,
    reply text COLLATE "C" NOT NULL,
    prompt_tokens bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    unusable boolean NOT NULL DEFAULT false,
    PRIMARY KEY (base, key)
);
-- Calls that are running. Losing them loses no reply. `until`: by the clock of the database.
CREATE TABLE pikerag.claims (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    key text COLLATE "C" NOT NULL,
    holder bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    process bigint NOT NULL,
    began bigint NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (base, key)
);
CREATE TABLE pikerag.templates (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    -- BLAKE3 of the text, which may be too long for an index.
    hash bytea NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, hash)
);
CREATE TABLE pikerag.call_sources (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    call text COLLATE "C" NOT NULL,
    source bigint NOT NULL,
    PRIMARY KEY (base, call, source)
);
CREATE INDEX call_sources_by_source ON pikerag.call_sources (base, source);
CREATE TABLE pikerag.runs (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id text COLLATE "C" NOT NULL,
    started bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    record text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, id)
);
CREATE INDEX runs_by_start ON pikerag.runs (base, started DESC, id);
CREATE TABLE pikerag.run_events (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    run text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    event text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, run, seq),
    FOREIGN KEY (base, run) REFERENCES pikerag.runs ON DELETE CASCADE
);
CREATE TABLE pikerag.run_calls (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    run text COLLATE "C" NOT NULL,
    call text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, run, call)
);
CREATE INDEX run_calls_by_call ON pikerag.run_calls (base, call);
CREATE TABLE pikerag.run_sources (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    run text COLLATE "C" NOT NULL,
    source bigint NOT NULL,
    PRIMARY KEY (base, run, source)
);
CREATE INDEX run_sources_by_source ON pikerag.run_sources (base, source);
CREATE TABLE pikerag.forgotten_runs (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id text COLLATE "C" NOT NULL,
    forgotten bigint NOT NULL,
    PRIMARY KEY (base, id)
);

-- A job's number counts within its base (`meta`: `last_job`).
CREATE TABLE pikerag.jobs (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    due bigint NOT NULL,
    record text COLLATE "C" NOT NULL,
    outcome text COLLATE "C",
    PRIMARY KEY (base, id)
);
CREATE INDEX jobs_by_state ON pikerag.jobs (base, state, due);
CREATE TABLE pikerag.job_files (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    job bigint NOT NULL,
    file text COLLATE "C" NOT NULL,
    attempts bigint NOT NULL DEFAULT 0,
    is_done boolean NOT NULL DEFAULT false,
    PRIMARY KEY (base, job, file),
    FOREIGN KEY (base, job) REFERENCES pikerag.jobs ON DELETE CASCADE
);
CREATE INDEX job_files_by_file ON pikerag.job_files (base, file);

CREATE TABLE pikerag.originals (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    hash text COLLATE "C" NOT NULL,
    length bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (base, hash)
);
CREATE TABLE pikerag.corrections (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    file text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    correction text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, file, place)
);
CREATE INDEX corrections_by_hash ON pikerag.corrections (base, hash);
CREATE TABLE pikerag.verified (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    at bigint NOT NULL,
    generation bigint NOT NULL,
    record text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, id)
);
CREATE TABLE pikerag.verified_chunks (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    verified bigint NOT NULL,
    chunk bigint NOT NULL,
    is_ground boolean NOT NULL,
    PRIMARY KEY (base, verified, chunk),
    FOREIGN KEY (base, verified) REFERENCES pikerag.verified ON DELETE CASCADE
);
CREATE INDEX verified_by_chunk ON pikerag.verified_chunks (base, chunk);

-- Schemas that questions derived.
CREATE TABLE pikerag.structured (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    hash bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    run text COLLATE "C" NOT NULL,
    schema text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, hash),
    UNIQUE (base, name)
);
CREATE TABLE pikerag.structured_basis (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    structured bigint NOT NULL,
    chunk bigint NOT NULL,
    PRIMARY KEY (base, structured, chunk),
    FOREIGN KEY (base, structured) REFERENCES pikerag.structured ON DELETE CASCADE,
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX structured_basis_by_chunk ON pikerag.structured_basis (base, chunk);
CREATE TABLE pikerag.structured_reads (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    structured bigint NOT NULL,
    chunk bigint NOT NULL,
    at bigint NOT NULL,
    invented bigint NOT NULL,
    incomplete bigint NOT NULL,
    PRIMARY KEY (base, structured, chunk),
    FOREIGN KEY (base, structured) REFERENCES pikerag.structured ON DELETE CASCADE,
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX structured_reads_by_chunk ON pikerag.structured_reads (base, chunk);

-- Typed tables. `version` changes with every change of a table or its rows (`meta`: `data_version`).
CREATE TABLE pikerag.data_tables (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL,
    shape bigint NOT NULL,
    name text COLLATE "C",
    title text COLLATE "C" NOT NULL DEFAULT '',
    columns text COLLATE "C" NOT NULL DEFAULT '[]',
    is_stale boolean NOT NULL DEFAULT true,
    is_surveyed boolean NOT NULL DEFAULT false,
    version bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (base, id),
    UNIQUE (base, shape),
    UNIQUE (base, name)
);
CREATE TABLE pikerag.data_chunks (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    chunk bigint NOT NULL,
    data bigint NOT NULL,
    source bigint NOT NULL,
    first bigint NOT NULL DEFAULT 0,
    rows bigint NOT NULL DEFAULT 0,
    left_out bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (base, chunk),
    FOREIGN KEY (base, chunk) REFERENCES pikerag.chunks ON DELETE CASCADE
);
CREATE INDEX data_chunks_by_table ON pikerag.data_chunks (base, data, source, chunk);
CREATE TABLE pikerag.data_parts (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    data bigint NOT NULL,
    source bigint NOT NULL,
    title text COLLATE "C" NOT NULL,
    about text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, data, source),
    FOREIGN KEY (base, source) REFERENCES pikerag.sources ON DELETE CASCADE
);
CREATE INDEX data_parts_by_source ON pikerag.data_parts (base, source);
-- The rows of all typed tables of a base. `cells`: a JSON list of null, numbers and texts.
CREATE TABLE pikerag.data_rows (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    data bigint NOT NULL,
    number bigint NOT NULL,
    chunk bigint NOT NULL,
    start bigint NOT NULL,
    stop bigint NOT NULL,
    cells text COLLATE "C" NOT NULL,
    PRIMARY KEY (base, data, number)
);
-- Rows whose chunk was deleted in this transaction: they are deleted before it ends.
CREATE TABLE pikerag.data_gone (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    data bigint NOT NULL,
    first bigint NOT NULL,
    rows bigint NOT NULL
);
CREATE INDEX data_gone_by_table ON pikerag.data_gone (base, data);

-- Access keys, for all bases of the database. They belong to the servers, so `base` is a name.
CREATE TABLE pikerag.keys (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    digest text COLLATE "C" NOT NULL UNIQUE,
    made bigint NOT NULL,
    params text COLLATE "C" NOT NULL,
    cap bigint,
    expires bigint,
    used bigint,
    spent bigint NOT NULL DEFAULT 0,
    revoked bigint,
    old_digest text COLLATE "C",
    old_until bigint
);
CREATE INDEX keys_by_old_digest ON pikerag.keys (old_digest) WHERE old_digest IS NOT NULL;
CREATE TABLE pikerag.key_facts (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE pikerag.reservations (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key bigint NOT NULL REFERENCES pikerag.keys,
    money bigint NOT NULL,
    made bigint NOT NULL,
    place text COLLATE "C" NOT NULL,
    process bigint NOT NULL,
    began bigint NOT NULL,
    is_left boolean NOT NULL DEFAULT false,
    base_name text COLLATE "C" NOT NULL,
    calls text COLLATE "C" NOT NULL
);
CREATE INDEX reservations_by_key ON pikerag.reservations (key);

-- A source with another title or summary is embedded again, and nobody has refused its new text yet.
CREATE FUNCTION pikerag.source_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.source_vectors WHERE base = NEW.base AND node = NEW.id;
    DELETE FROM pikerag.refusals WHERE base = NEW.base AND node = NEW.id AND stage LIKE 'embed:%';
    RETURN NULL;
END $$;
CREATE TRIGGER source_changed AFTER UPDATE OF title, summary ON pikerag.sources FOR EACH ROW
    WHEN (OLD.title IS DISTINCT FROM NEW.title OR OLD.summary IS DISTINCT FROM NEW.summary) EXECUTE FUNCTION pikerag.source_changed();
CREATE FUNCTION pikerag.source_without_summary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = NEW.base AND node = NEW.id AND NOT of_chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER source_without_summary AFTER UPDATE OF summary ON pikerag.sources FOR EACH ROW
    WHEN (NEW.summary IS NULL) EXECUTE FUNCTION pikerag.source_without_summary();
CREATE FUNCTION pikerag.chunk_summary_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = NEW.base AND node = NEW.id AND stage LIKE 'embed:%';
    RETURN NULL;
END $$;
CREATE TRIGGER chunk_summary_changed AFTER UPDATE OF summary ON pikerag.chunks FOR EACH ROW
    WHEN (OLD.summary IS DISTINCT FROM NEW.summary) EXECUTE FUNCTION pikerag.chunk_summary_changed();

-- Results from mentions go when the mentions change: nothing that was derived from deleted text remains.
CREATE FUNCTION pikerag.entity_mentioned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.descriptions WHERE base = NEW.base AND node = NEW.entity;
    DELETE FROM pikerag.entity_vectors WHERE base = NEW.base AND node = NEW.entity;
    DELETE FROM pikerag.refusals WHERE base = NEW.base AND node = NEW.entity AND NOT of_chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER entity_mentioned AFTER INSERT ON pikerag.entity_mentions FOR EACH ROW EXECUTE FUNCTION pikerag.entity_mentioned();
CREATE FUNCTION pikerag.entity_unmentioned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.descriptions WHERE base = OLD.base AND node = OLD.entity;
    DELETE FROM pikerag.entity_vectors WHERE base = OLD.base AND node = OLD.entity;
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND node = OLD.entity AND NOT of_chunk;
    DELETE FROM pikerag.communities WHERE base = OLD.base AND id IN
        (SELECT community FROM pikerag.members WHERE base = OLD.base AND entity = OLD.entity);
    DELETE FROM pikerag.entities WHERE base = OLD.base AND id = OLD.entity AND NOT EXISTS
        (SELECT 1 FROM pikerag.entity_mentions m WHERE m.base = OLD.base AND m.entity = OLD.entity);
    RETURN NULL;
END $$;
CREATE TRIGGER entity_unmentioned AFTER DELETE ON pikerag.entity_mentions FOR EACH ROW EXECUTE FUNCTION pikerag.entity_unmentioned();
CREATE FUNCTION pikerag.relation_mentioned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.descriptions WHERE base = NEW.base AND node = NEW.relation;
    DELETE FROM pikerag.refusals WHERE base = NEW.base AND node = NEW.relation AND NOT of_chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER relation_mentioned AFTER INSERT ON pikerag.relation_mentions FOR EACH ROW EXECUTE FUNCTION pikerag.relation_mentioned();
CREATE FUNCTION pikerag.relation_unmentioned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.descriptions WHERE base = OLD.base AND node = OLD.relation;
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND node = OLD.relation AND NOT of_chunk;
    DELETE FROM pikerag.relations WHERE base = OLD.base AND id = OLD.relation AND NOT EXISTS
        (SELECT 1 FROM pikerag.relation_mentions m WHERE m.base = OLD.base AND m.relation = OLD.relation);
    RETURN NULL;
END $$;
CREATE TRIGGER relation_unmentioned AFTER DELETE ON pikerag.relation_mentions FOR EACH ROW EXECUTE FUNCTION pikerag.relation_unmentioned();
CREATE FUNCTION pikerag.description_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.entity_vectors WHERE base = NEW.base AND node = NEW.node;
    DELETE FROM pikerag.refusals WHERE base = NEW.base AND node = NEW.node AND stage LIKE 'embed:%';
    RETURN NULL;
END $$;
CREATE TRIGGER description_made AFTER INSERT ON pikerag.descriptions FOR EACH ROW EXECUTE FUNCTION pikerag.description_made();
CREATE FUNCTION pikerag.child_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.summaries WHERE base = OLD.base AND id = OLD.summary;
    RETURN NULL;
END $$;
CREATE TRIGGER child_gone AFTER DELETE ON pikerag.summary_children FOR EACH ROW EXECUTE FUNCTION pikerag.child_gone();

-- A found class lives while a chunk has one of its tags or examples; a learned pair, while a chunk has its professional tag.
CREATE FUNCTION pikerag.chunk_tag_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.tag_pairs p WHERE p.base = OLD.base AND p.professional_key = OLD.key AND p.origin = 'found'
        AND NOT EXISTS (SELECT 1 FROM pikerag.chunk_tags t WHERE t.base = OLD.base AND t.key = OLD.key);
    DELETE FROM pikerag.tag_classes c WHERE c.base = OLD.base AND c.id = OLD.class AND c.origin = 'found'
        AND NOT EXISTS (SELECT 1 FROM pikerag.chunk_tags t WHERE t.base = OLD.base AND t.class = OLD.class)
        AND NOT EXISTS (SELECT 1 FROM pikerag.tag_examples e WHERE e.base = OLD.base AND e.class = OLD.class);
    RETURN NULL;
END $$;
CREATE TRIGGER chunk_tag_gone AFTER DELETE ON pikerag.chunk_tags FOR EACH ROW EXECUTE FUNCTION pikerag.chunk_tag_gone();
CREATE FUNCTION pikerag.tag_example_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.tag_classes c WHERE c.base = OLD.base AND c.id = OLD.class AND c.origin = 'found'
        AND NOT EXISTS (SELECT 1 FROM pikerag.chunk_tags t WHERE t.base = OLD.base AND t.class = OLD.class)
        AND NOT EXISTS (SELECT 1 FROM pikerag.tag_examples e WHERE e.base = OLD.base AND e.class = OLD.class);
    RETURN NULL;
END $$;
CREATE TRIGGER tag_example_gone AFTER DELETE ON pikerag.tag_examples FOR EACH ROW EXECUTE FUNCTION pikerag.tag_example_gone();

-- Records and rows are read from cells and metadata too: if these change, they are read again.
CREATE FUNCTION pikerag.source_metadata_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.records WHERE base = NEW.base AND chunk IN (SELECT id FROM pikerag.chunks WHERE base = NEW.base AND source = NEW.id);
    DELETE FROM pikerag.progress WHERE base = NEW.base AND stage LIKE 'records:%' AND chunk IN (SELECT id FROM pikerag.chunks WHERE base = NEW.base AND source = NEW.id);
    DELETE FROM pikerag.structured_reads WHERE base = NEW.base AND chunk IN (SELECT id FROM pikerag.chunks WHERE base = NEW.base AND source = NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER source_metadata_changed AFTER UPDATE OF metadata ON pikerag.sources FOR EACH ROW
    WHEN (OLD.metadata <> NEW.metadata) EXECUTE FUNCTION pikerag.source_metadata_changed();
CREATE FUNCTION pikerag.chunk_cells_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.records WHERE base = NEW.base AND chunk = NEW.id;
    DELETE FROM pikerag.progress WHERE base = NEW.base AND stage LIKE 'records:%' AND chunk = NEW.id;
    DELETE FROM pikerag.structured_reads WHERE base = NEW.base AND chunk = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER chunk_cells_changed AFTER UPDATE OF cells, ordinal, kind ON pikerag.chunks FOR EACH ROW
    WHEN (OLD.cells IS DISTINCT FROM NEW.cells OR OLD.kind <> NEW.kind OR (OLD.ordinal = 0) <> (NEW.ordinal = 0)) EXECUTE FUNCTION pikerag.chunk_cells_changed();
CREATE FUNCTION pikerag.data_source_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.data_chunks WHERE base = NEW.base AND source = NEW.id;
    DELETE FROM pikerag.progress WHERE base = NEW.base AND stage = 'tables' AND chunk IN (SELECT id FROM pikerag.chunks WHERE base = NEW.base AND source = NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER data_source_changed AFTER UPDATE OF metadata, title ON pikerag.sources FOR EACH ROW
    WHEN (OLD.metadata <> NEW.metadata OR OLD.title <> NEW.title) EXECUTE FUNCTION pikerag.data_source_changed();
CREATE FUNCTION pikerag.data_chunk_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.data_chunks WHERE base = NEW.base AND chunk = NEW.id;
    DELETE FROM pikerag.progress WHERE base = NEW.base AND stage = 'tables' AND chunk = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER data_chunk_changed AFTER UPDATE OF cells, ordinal, hidden ON pikerag.chunks FOR EACH ROW
    WHEN (OLD.cells IS DISTINCT FROM NEW.cells OR OLD.hidden <> NEW.hidden OR (OLD.ordinal = 0) <> (NEW.ordinal = 0)) EXECUTE FUNCTION pikerag.data_chunk_changed();
CREATE FUNCTION pikerag.data_chunk_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE pikerag.data_tables SET is_stale = true WHERE base = NEW.base AND id = NEW.data AND NOT is_stale;
    RETURN NULL;
END $$;
CREATE TRIGGER data_chunk_added AFTER INSERT ON pikerag.data_chunks FOR EACH ROW EXECUTE FUNCTION pikerag.data_chunk_added();
CREATE FUNCTION pikerag.data_chunk_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pikerag.data_gone (base, data, first, rows) VALUES (OLD.base, OLD.data, OLD.first, OLD.rows);
    RETURN NULL;
END $$;
CREATE TRIGGER data_chunk_removed AFTER DELETE ON pikerag.data_chunks FOR EACH ROW EXECUTE FUNCTION pikerag.data_chunk_removed();

-- A schema of a question goes with any passage that it was derived from, and its records with it.
CREATE FUNCTION pikerag.structured_basis_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.structured WHERE base = OLD.base AND hash = OLD.structured;
    RETURN NULL;
END $$;
CREATE TRIGGER structured_basis_gone AFTER DELETE ON pikerag.structured_basis FOR EACH ROW EXECUTE FUNCTION pikerag.structured_basis_gone();
CREATE FUNCTION pikerag.structured_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.records WHERE base = OLD.base AND schema = OLD.name AND declared = OLD.hash;
    RETURN NULL;
END $$;
CREATE TRIGGER structured_gone AFTER DELETE ON pikerag.structured FOR EACH ROW EXECUTE FUNCTION pikerag.structured_gone();

-- A refusal goes with the mark of its stage, and with its node.
CREATE FUNCTION pikerag.mark_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND stage = OLD.stage AND node = OLD.chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER mark_gone AFTER DELETE ON pikerag.progress FOR EACH ROW EXECUTE FUNCTION pikerag.mark_gone();
CREATE FUNCTION pikerag.refused_chunk_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND node = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER refused_chunk_gone AFTER DELETE ON pikerag.chunks FOR EACH ROW EXECUTE FUNCTION pikerag.refused_chunk_gone();
CREATE FUNCTION pikerag.refused_atoms_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND node = OLD.id AND NOT of_chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER refused_atoms_gone AFTER DELETE ON pikerag.atoms FOR EACH ROW EXECUTE FUNCTION pikerag.refused_atoms_gone();
CREATE FUNCTION pikerag.refused_sections_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND node = OLD.id AND NOT of_chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER refused_sections_gone AFTER DELETE ON pikerag.sections FOR EACH ROW EXECUTE FUNCTION pikerag.refused_sections_gone();
CREATE FUNCTION pikerag.refused_sources_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND node = OLD.id AND NOT of_chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER refused_sources_gone AFTER DELETE ON pikerag.sources FOR EACH ROW EXECUTE FUNCTION pikerag.refused_sources_gone();
CREATE FUNCTION pikerag.refused_reports_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND node = OLD.community AND NOT of_chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER refused_reports_gone AFTER DELETE ON pikerag.reports FOR EACH ROW EXECUTE FUNCTION pikerag.refused_reports_gone();
CREATE FUNCTION pikerag.refused_summaries_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.refusals WHERE base = OLD.base AND node = OLD.id AND NOT of_chunk;
    RETURN NULL;
END $$;
CREATE TRIGGER refused_summaries_gone AFTER DELETE ON pikerag.summaries FOR EACH ROW EXECUTE FUNCTION pikerag.refused_summaries_gone();

-- The bytes of a file go with the last file that has them.
CREATE FUNCTION pikerag.original_unused() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.originals WHERE base = OLD.base AND hash = OLD.hash
        AND NOT EXISTS (SELECT 1 FROM pikerag.files f WHERE f.base = OLD.base AND f.hash = OLD.hash);
    RETURN NULL;
END $$;
CREATE TRIGGER original_unused AFTER DELETE ON pikerag.files FOR EACH ROW EXECUTE FUNCTION pikerag.original_unused();
CREATE FUNCTION pikerag.original_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.originals WHERE base = OLD.base AND hash = OLD.hash
        AND NOT EXISTS (SELECT 1 FROM pikerag.files f WHERE f.base = OLD.base AND f.hash = OLD.hash);
    RETURN NULL;
END $$;
CREATE TRIGGER original_replaced AFTER UPDATE OF hash ON pikerag.files FOR EACH ROW
    WHEN (OLD.hash <> NEW.hash) EXECUTE FUNCTION pikerag.original_replaced();

-- The documents of a pruned run stay on record while its calls do.
CREATE FUNCTION pikerag.run_pruned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.run_sources WHERE base = OLD.base AND run = OLD.id
        AND NOT EXISTS (SELECT 1 FROM pikerag.run_calls c WHERE c.base = OLD.base AND c.run = OLD.id);
    RETURN NULL;
END $$;
CREATE TRIGGER run_pruned AFTER DELETE ON pikerag.runs FOR EACH ROW EXECUTE FUNCTION pikerag.run_pruned();
CREATE FUNCTION pikerag.call_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM pikerag.call_sources WHERE base = OLD.base AND call = OLD.key;
    DELETE FROM pikerag.run_calls WHERE base = OLD.base AND call = OLD.key;
    RETURN NULL;
END $$;
CREATE TRIGGER call_gone AFTER DELETE ON pikerag.calls FOR EACH ROW EXECUTE FUNCTION pikerag.call_gone();
