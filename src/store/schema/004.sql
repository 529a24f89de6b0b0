-- Tasks that stand so: whoever looks at what is under way does not walk through all that has ended.
CREATE INDEX task_listed_by_status ON task (status, created_at DESC, id) WHERE archived_at IS NULL;
-- Which key the secret was made from, by the key's fingerprint: another makes other secrets, and receivers refuse what it signs.
ALTER TABLE webhook ADD COLUMN made_from TEXT;
