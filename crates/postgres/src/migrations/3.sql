-- Uploaded files, for all servers that use the base. `part` is NULL for a complete file. A number is never used again, so a reader
-- notices that its file was replaced. `sender` may add pieces until `until`; then another may continue.
CREATE TABLE pikerag.uploads (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    name text COLLATE "C" NOT NULL,
    part text COLLATE "C",
    bytes bigint NOT NULL,
    changed timestamptz NOT NULL,
    sender text COLLATE "C",
    until timestamptz,
    PRIMARY KEY (base, id)
);
-- A name may be too long for an index.
CREATE UNIQUE INDEX uploads_by_name ON pikerag.uploads (base, md5(name), part) NULLS NOT DISTINCT;
-- The bytes in pieces, each by its first byte.
CREATE TABLE pikerag.upload_pieces (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    upload bigint NOT NULL,
    start bigint NOT NULL,
    bytes bytea STORAGE EXTERNAL NOT NULL,
    PRIMARY KEY (base, upload, start),
    FOREIGN KEY (base, upload) REFERENCES pikerag.uploads ON DELETE CASCADE
);

-- Bases that servers made, by the names that requests use. `owner` is the base of the settings beside which they were made.
CREATE TABLE pikerag.made_bases (
    id integer PRIMARY KEY REFERENCES pikerag.bases ON DELETE CASCADE,
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    UNIQUE (owner, name)
);
-- One number, which advances with every change of them.
CREATE TABLE pikerag.made_bases_version (version bigint NOT NULL);
INSERT INTO pikerag.made_bases_version VALUES (0);

-- Writes call it under a lock that a removal of the base holds alone. Base 0 means rows of no base.
CREATE FUNCTION pikerag.check_base(wanted integer) RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF wanted <> 0 AND NOT EXISTS (SELECT 1 FROM pikerag.bases WHERE id = wanted) THEN
        RAISE EXCEPTION 'the knowledge base was removed';
    END IF;
END $$;

-- The last sign that a run goes on; NULL for runs of earlier versions and of other stores.
ALTER TABLE pikerag.runs ADD COLUMN beat timestamptz;
CREATE INDEX runs_running ON pikerag.runs (base) WHERE state = 'running';

-- Responses to requests with an idempotency key, for all servers. `until` is NULL once there is a response. They belong to base 0:
-- the column is here so that `VACUUM` after forgetting takes this table, too.
CREATE TABLE pikerag.responses (
    base integer NOT NULL DEFAULT 0,
    caller text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C",
    holder text COLLATE "C" NOT NULL,
    began timestamptz NOT NULL,
    until timestamptz,
    status integer,
    content_type text COLLATE "C",
    body bytea,
    is_void boolean NOT NULL DEFAULT false,
    PRIMARY KEY (base, caller, key)
);
