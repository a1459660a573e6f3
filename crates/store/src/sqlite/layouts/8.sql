-- What calls were made of, so that a document is forgotten with all that holds its text. Names alone, no text.

-- The templates that requests were filled in from: their own lines are no sign of a document.
CREATE TABLE templates (text TEXT PRIMARY KEY) WITHOUT ROWID;

-- The documents whose text a request holds, also in an earlier version of theirs.
CREATE TABLE call_sources (
    call TEXT NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (call, source)
) WITHOUT ROWID;
CREATE INDEX call_sources_by_source ON call_sources(source);

-- The calls that a run rests on, and the documents that it named. They outlive a run that is pruned, since its
-- calls stay.
CREATE TABLE run_calls (
    run TEXT NOT NULL,
    call TEXT NOT NULL,
    PRIMARY KEY (run, call)
) WITHOUT ROWID;
CREATE INDEX run_calls_by_call ON run_calls(call);
CREATE TABLE run_sources (
    run TEXT NOT NULL,
    source INTEGER NOT NULL,
    PRIMARY KEY (run, source)
) WITHOUT ROWID;
CREATE INDEX run_sources_by_source ON run_sources(source);
CREATE TRIGGER run_pruned AFTER DELETE ON runs WHEN NOT EXISTS (SELECT 1 FROM run_calls WHERE run = OLD.id) BEGIN
    DELETE FROM run_sources WHERE run = OLD.id;
END;
CREATE TRIGGER call_gone AFTER DELETE ON calls BEGIN
    DELETE FROM call_sources WHERE call = OLD.key;
    DELETE FROM run_calls WHERE call = OLD.key;
END;

-- Runs of earlier layouts, as far as their documents are still there. Events name a node by 16 hexadecimal digits.
INSERT INTO run_calls(run, call)
    SELECT DISTINCT e.run, c.value FROM run_events e, json_each(e.event, '$.calls') c
    WHERE json_valid(e.event) AND c.type = 'text';
CREATE TEMP TABLE named (name TEXT PRIMARY KEY, source INTEGER NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO named
    SELECT printf('%016x', id), source FROM chunks
    UNION SELECT printf('%016x', a.id), c.source FROM atoms a JOIN chunks c ON c.id = a.chunk;
INSERT INTO run_sources(run, source)
    SELECT DISTINCT e.run, n.source
    FROM (SELECT run, event FROM run_events UNION ALL SELECT id, record FROM runs) e, json_tree(e.event) t
    JOIN named n ON n.name = t.value
    WHERE json_valid(e.event) AND t.type = 'text' AND length(t.value) = 16;
DROP TABLE named;

-- What is to be done for the base, and what was: one row for each job, `record` as JSON. `state` and `due` (milliseconds
-- since 1970) choose the next one. `outcome`: what came of it, as JSON; it goes when a file is forgotten.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL,
    due INTEGER NOT NULL,
    record TEXT NOT NULL,
    outcome TEXT
);
CREATE INDEX jobs_by_state ON jobs(state, due);
-- The files that a job reads, as the base calls them, and how often each was begun.
CREATE TABLE job_files (
    job INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
    file TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    is_done INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, file)
) WITHOUT ROWID;
CREATE INDEX job_files_by_file ON job_files(file);
