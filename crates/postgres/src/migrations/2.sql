-- Workers take parts of jobs.

-- The order of the jobs of a base (0 first), by the rank of their priority.
ALTER TABLE pikerag.jobs ADD COLUMN priority bigint NOT NULL DEFAULT 1;
-- The lease that covers a file.
ALTER TABLE pikerag.job_files ADD COLUMN fence bigint;
CREATE INDEX job_files_by_fence ON pikerag.job_files (base, fence) WHERE fence IS NOT NULL;
CREATE INDEX job_files_free ON pikerag.job_files (base, job) WHERE fence IS NULL AND NOT is_done;

-- `fence` grows with each taking in a base. `job` is null while the jobs of the base are held. `part`: whole, files, rest or
-- hold. `place`, `process` and `began` are those of the worker's process, as in `claims`.
CREATE TABLE pikerag.job_leases (
    base integer NOT NULL DEFAULT pikerag.this_base(),
    fence bigint NOT NULL,
    job bigint,
    part text COLLATE "C" NOT NULL,
    worker text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    process bigint NOT NULL,
    began bigint NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (base, fence),
    FOREIGN KEY (base, job) REFERENCES pikerag.jobs ON DELETE CASCADE
);
CREATE INDEX job_leases_by_job ON pikerag.job_leases (base, job);

-- When a part of its jobs was last taken, in milliseconds since 1970.
ALTER TABLE pikerag.bases ADD COLUMN served bigint NOT NULL DEFAULT 0;
