-- What is set aside for calls under way, and the runs that it keeps waiting, by whose budget it is set aside from.
CREATE INDEX step_under_way ON step (run) WHERE status IN ('decided', 'dispatched');
CREATE INDEX run_held_beside ON run (json_extract(wait, '$.beside.of'), origin, json_extract(wait, '$.beside.since'), id)
  WHERE status = 'held' AND json_extract(wait, '$.beside.of') IS NOT NULL;
CREATE INDEX run_running ON run (origin) WHERE status = 'running';
