-- With which token a request was made, a vote given, a run begun; NULL of whoever holds the state file, and of rows from before
-- these columns. (Folds write them by themselves, and no fold reads them: a file of an earlier version is verified as it is.)
ALTER TABLE approval ADD COLUMN token_id TEXT;
ALTER TABLE approval_decision ADD COLUMN token_id TEXT;
ALTER TABLE run ADD COLUMN token_id TEXT;
CREATE INDEX approval_open_with ON approval (token_id) WHERE token_id IS NOT NULL AND status IN ('pending', 'approved');
CREATE INDEX approval_decided_with ON approval_decision (token_id) WHERE token_id IS NOT NULL;
CREATE INDEX run_live_with ON run (token_id) WHERE token_id IS NOT NULL AND ended_at IS NULL;
-- Whoever finds the value of a token asks whose it was.
CREATE INDEX token_ended ON token (hash) WHERE ended IS NOT NULL;
