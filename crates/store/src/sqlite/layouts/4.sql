-- Runs: what was asked, what happened on the way, and what came of it. `record` and `event` are JSON.
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    started INTEGER NOT NULL,
    state TEXT NOT NULL,
    record TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_by_start ON runs(started);
CREATE TABLE run_events (
    run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;

-- The headings above a chunk were one line, joined by ` › `; they are a list now.
UPDATE chunks SET headings = coalesce((
    WITH RECURSIVE above(heading, parent, depth) AS (
        SELECT heading, parent, 0 FROM sections WHERE id = chunks.section
        UNION ALL
        SELECT s.heading, s.parent, depth + 1 FROM sections s JOIN above ON s.id = above.parent
    )
    SELECT json_group_array(heading) FROM (SELECT heading FROM above ORDER BY depth DESC)
), '[]');
