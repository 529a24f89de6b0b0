-- What somebody has asked for and still waits for: looked up at each change that they make.
CREATE INDEX approval_open_of ON approval (actor, operation) WHERE status IN ('pending', 'approved');
