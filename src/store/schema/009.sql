-- What somebody else has rejected, by its content: whoever proposes it again is reminded.
CREATE INDEX change_rejected ON change (hash, updated_at DESC) WHERE state = 'rejected';
