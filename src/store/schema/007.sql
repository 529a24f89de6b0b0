-- With which token a request was made; NULL of whoever holds the state file, and of a run.
ALTER TABLE approval ADD COLUMN token TEXT;
CREATE INDEX approval_open_with ON approval (token) WHERE token IS NOT NULL AND status IN ('pending', 'approved');
