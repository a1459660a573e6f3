-- Workers take jobs under leases, as in the other store.

-- The order of the jobs of a base (0 first), by the rank of their priority.
ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 1;
-- The lease that covers a file.
ALTER TABLE job_files ADD COLUMN fence INTEGER;
CREATE INDEX job_files_by_fence ON job_files(fence) WHERE fence IS NOT NULL;
-- `fence` grows with each taking. `job` is null while the jobs are held. `part`: whole, files, rest or hold. `place`, `process`
-- and `began` are those of the worker's process, as in `claims`. `until`: in milliseconds since 1970.
CREATE TABLE job_leases (
    fence INTEGER PRIMARY KEY,
    job INTEGER REFERENCES jobs(id) ON DELETE CASCADE,
    part TEXT NOT NULL,
    worker TEXT NOT NULL,
    place TEXT NOT NULL,
    process INTEGER NOT NULL,
    began INTEGER NOT NULL,
    until INTEGER NOT NULL
);
CREATE INDEX job_leases_by_job ON job_leases(job);
