-- [keep] What is to be done for the base, and what was: one row for each job, `record` as JSON. `state` and `due` (milliseconds
-- since 1970) choose the next one. `outcome`: what came of it, as JSON; it goes when a file is forgotten.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL,
    due INTEGER NOT NULL,
    record TEXT NOT NULL,
    outcome TEXT
);
CREATE INDEX jobs_by_state ON jobs(state, due);
-- [keep] The files that a job reads, as the base calls them, and how often each was begun.
CREATE TABLE job_files (
    job INTEGER NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
    file TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    is_done INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, file)
) WITHOUT ROWID;
CREATE INDEX job_files_by_file ON job_files(file);
