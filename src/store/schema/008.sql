-- With which token a change was proposed, or reviewed; as above.
ALTER TABLE change ADD COLUMN token_id TEXT;
ALTER TABLE change_review ADD COLUMN token_id TEXT;
CREATE INDEX change_open_with ON change (token_id) WHERE token_id IS NOT NULL AND state IN ('proposed', 'in_review', 'approved', 'canary');
CREATE INDEX change_reviewed_with ON change_review (token_id) WHERE token_id IS NOT NULL;
-- When a file of an earlier version was brought up to date: what was done before may not name the token that it was done with.
ALTER TABLE instance ADD COLUMN tokens_named_since INTEGER;
UPDATE instance SET tokens_named_since = CAST(unixepoch('subsec') * 1000 AS INTEGER);
