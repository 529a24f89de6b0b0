-- Who asked for the whole that a run is a part of: each part has its asker before those of what it is a part of.
ALTER TABLE run ADD COLUMN origin TEXT GENERATED ALWAYS AS (coalesce(json_extract(askers, '$[' || depth || ']'), asker)) VIRTUAL;
DROP INDEX run_due_for;
CREATE INDEX run_due_of ON run (origin, due_at, id, agent) WHERE due_at IS NOT NULL;
CREATE INDEX run_held ON run (id) WHERE ended_at IS NULL AND status = 'held' AND due_at IS NULL;
