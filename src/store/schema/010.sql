-- The delegation that a run was asked for under.
ALTER TABLE run ADD COLUMN delegation TEXT;
CREATE INDEX run_waits_under ON run (delegation) WHERE delegation IS NOT NULL AND ended_at IS NULL AND (wait IS NOT NULL OR due_at IS NULL);
CREATE INDEX approval_open_under ON approval (under) WHERE under IS NOT NULL AND status IN ('pending', 'approved');
