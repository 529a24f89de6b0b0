-- Made once with the state file; no event.
CREATE TABLE instance (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  ulid    TEXT NOT NULL,
  sealing BLOB NOT NULL            -- 32 random bytes: cursors and idempotency keys
) STRICT;

-- Everything below is a fold of the log.
CREATE TABLE company (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  name       TEXT NOT NULL,
  version    INTEGER NOT NULL,
  settings   TEXT NOT NULL,        -- JSON
  created_at INTEGER NOT NULL
) STRICT;
-- Every version of the policies that was in force; the newest one is.
CREATE TABLE policy (
  version    INTEGER PRIMARY KEY,
  hash       TEXT NOT NULL,
  source     TEXT NOT NULL,
  change     TEXT,                 -- the change that brought it, if one did
  by         TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT;
-- What decisions read, as it was: from the entry that made it so to the one that changed it.
CREATE TABLE directory_row (
  kind  TEXT NOT NULL,             -- actor, kill, delegation, break_glass
  id    TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER,                   -- NULL: as it is now
  row   TEXT NOT NULL,             -- JSON
  ended INTEGER,                   -- when it was changed or ended
  PRIMARY KEY (kind, id, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX directory_row_now ON directory_row (kind, id) WHERE until IS NULL;
CREATE INDEX directory_row_made ON directory_row (since);
CREATE INDEX directory_row_ended ON directory_row (until) WHERE until IS NOT NULL;
CREATE INDEX directory_row_admin ON directory_row (ended) WHERE kind = 'actor' AND row ->> 'role' = 'admin' AND ended IS NOT NULL;
CREATE TABLE policy_file (
  path TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;
-- Where the company keeps its policies.
CREATE TABLE policy_source (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  kind TEXT NOT NULL,
  url  TEXT,
  ref  TEXT,
  path TEXT,
  auto INTEGER NOT NULL
) STRICT;
CREATE TABLE change (
  id           TEXT PRIMARY KEY,
  target       TEXT NOT NULL,
  target_id    TEXT,               -- which one, where there are several
  state        TEXT NOT NULL,
  base_version INTEGER NOT NULL,
  hash         TEXT NOT NULL,
  reason       TEXT NOT NULL,
  commit_id    TEXT,
  rolls_back   INTEGER,
  author       TEXT NOT NULL,
  version      INTEGER,
  evals        TEXT NOT NULL,      -- JSON
  terms        TEXT,               -- JSON: of its trial
  trialled     TEXT,               -- JSON: what the trial has shown
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  behalf       TEXT NOT NULL,      -- JSON: on whose behalf it was proposed
  issuer       TEXT,               -- who issued the token that it was proposed with, where that is not the author
  rejection    TEXT,               -- JSON: who rejected it, or took it back, and why
  files        TEXT NOT NULL       -- JSON
) STRICT;
CREATE INDEX change_by_age ON change (created_at DESC, id);
CREATE INDEX change_by_author ON change (author, created_at DESC, id);
CREATE INDEX change_by_hash ON change (hash) WHERE state IN ('proposed', 'in_review', 'approved', 'canary');
CREATE TABLE change_review (
  seq     INTEGER PRIMARY KEY,
  change  TEXT NOT NULL,
  by      TEXT NOT NULL,
  verdict TEXT NOT NULL,
  note    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  issuer  TEXT                     -- who issued the token that it was given with, where that is not who gave it
) STRICT;
CREATE INDEX change_review_by_change ON change_review (change, seq);
CREATE TABLE actor (
  id         TEXT PRIMARY KEY,
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  role       TEXT NOT NULL,
  team       TEXT,
  lead       TEXT,
  owner      TEXT,
  skills     TEXT NOT NULL,        -- JSON
  trust      TEXT NOT NULL,
  status     TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
-- What agents were hired by.
CREATE TABLE agent_definition (
  actor      TEXT PRIMARY KEY,
  definition TEXT NOT NULL         -- JSON
) STRICT;
CREATE INDEX actor_by_age ON actor (created_at DESC, id);
CREATE INDEX actor_by_owner ON actor (owner, created_at DESC, id);
CREATE INDEX actor_by_lead ON actor (lead, created_at DESC, id);
CREATE INDEX actor_by_team ON actor (team, created_at DESC, id);
CREATE TABLE token (
  id         TEXT PRIMARY KEY,
  holder     TEXT NOT NULL,
  hash       BLOB NOT NULL,        -- it is found in memory: an index of random hashes would cost each new one a page
  label      TEXT NOT NULL,
  scopes     TEXT NOT NULL,        -- JSON
  issuer     TEXT,                 -- who could know it, where that is not the holder
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended      TEXT,                 -- NULL, revoked, expired
  ended_at   INTEGER
) STRICT;
CREATE INDEX token_by_age ON token (created_at DESC, id);
CREATE INDEX token_by_holder ON token (holder, created_at DESC, id);
CREATE INDEX token_by_issuer ON token (issuer, id) WHERE issuer IS NOT NULL AND ended IS NULL;
CREATE INDEX token_live ON token (expires_at) WHERE ended IS NULL;
CREATE TABLE kill (
  scope   TEXT PRIMARY KEY,
  reason  TEXT NOT NULL,
  by      TEXT NOT NULL,
  at      INTEGER NOT NULL
) STRICT;
CREATE TABLE approval (
  id         TEXT PRIMARY KEY,
  actor      TEXT NOT NULL,
  operation  TEXT NOT NULL,
  target     TEXT NOT NULL,
  summary    TEXT NOT NULL,
  input      TEXT NOT NULL,        -- JSON, but for what can be erased
  erasable   TEXT,                 -- JSON; NULL once it is erased
  resource   TEXT NOT NULL,        -- JSON: what it was about, as it was
  channel    TEXT NOT NULL,
  kinds      TEXT NOT NULL,        -- JSON
  digest     TEXT NOT NULL,
  reason     TEXT NOT NULL,
  status     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at   INTEGER,
  stale      TEXT,                 -- why it went stale
  under      TEXT,                 -- the delegation that it was asked under
  behalf     TEXT NOT NULL,        -- JSON: on whose behalf
  issuer     TEXT,                 -- who issued the token that it was asked with, where that is not the actor
  run        TEXT                  -- JSON: the run that it was asked in, as it stood
) STRICT;
CREATE INDEX approval_by_age ON approval (created_at DESC, id);
CREATE INDEX approval_by_actor ON approval (actor, created_at DESC, id);
CREATE INDEX approval_open ON approval (expires_at) WHERE status IN ('pending', 'approved');
CREATE INDEX approval_about ON approval (target) WHERE status IN ('pending', 'approved');
CREATE INDEX approval_ever_about ON approval (target, created_at DESC, id);
CREATE INDEX approval_of_kind ON approval (operation, created_at DESC, id);
CREATE INDEX approval_by_digest ON approval (digest) WHERE status IN ('pending', 'approved');
CREATE TABLE approval_decision (
  approval TEXT NOT NULL,
  by       TEXT NOT NULL,
  kind     TEXT NOT NULL,
  verdict  TEXT NOT NULL,
  note     TEXT NOT NULL,
  at       INTEGER NOT NULL,
  issuer   TEXT,                   -- who issued the token that it was given with, where that is not who gave it
  PRIMARY KEY (approval, by)
) STRICT;
-- Whom waiting has been told of already.
CREATE TABLE approval_notice (
  approval TEXT NOT NULL,
  kind     TEXT NOT NULL,
  notice   TEXT NOT NULL,          -- reminded, escalated
  at       INTEGER NOT NULL,
  PRIMARY KEY (approval, kind, notice)
) STRICT;
-- Break-glass: who may go on without approval for a while.
CREATE TABLE break_glass (
  id          TEXT PRIMARY KEY,
  holder      TEXT NOT NULL,
  operations  TEXT NOT NULL,       -- JSON
  reason      TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  uses        INTEGER NOT NULL,
  reviewer    TEXT,
  verdict     TEXT,
  note        TEXT,
  reviewed_at INTEGER,
  issuer      TEXT                 -- of the token that it was opened with, where that is not the holder
) STRICT;
CREATE INDEX break_glass_by_age ON break_glass (created_at DESC, id);
CREATE INDEX break_glass_by_holder ON break_glass (holder, created_at DESC, id);
CREATE INDEX break_glass_unreviewed ON break_glass (created_at, id) WHERE reviewed_at IS NULL;

CREATE TABLE delegation (
  id             TEXT PRIMARY KEY,
  giver          TEXT NOT NULL,
  taker          TEXT NOT NULL,
  scope          TEXT NOT NULL,    -- JSON
  authority      TEXT NOT NULL,
  tools          TEXT NOT NULL,    -- JSON
  expires_at     INTEGER NOT NULL,
  parent         TEXT,
  depth          INTEGER NOT NULL,
  chain          TEXT NOT NULL,    -- JSON: on whose behalf the taker acts, the giver first
  status         TEXT NOT NULL,
  budget_cents   INTEGER,
  spent_cents    INTEGER NOT NULL,
  reserved_cents INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  ended_at       INTEGER
) STRICT;
CREATE INDEX delegation_by_age ON delegation (created_at DESC, id);
CREATE INDEX delegation_by_giver ON delegation (giver, created_at DESC, id);
CREATE INDEX delegation_by_taker ON delegation (taker, created_at DESC, id);
CREATE INDEX delegation_by_parent ON delegation (parent) WHERE ended_at IS NULL;
CREATE INDEX delegation_live ON delegation (expires_at) WHERE ended_at IS NULL;
CREATE TABLE delegation_reservation (
  id            TEXT PRIMARY KEY,
  delegation    TEXT NOT NULL,
  cents         INTEGER NOT NULL,
  settled_cents INTEGER,
  run           TEXT               -- the run that spends it
) STRICT;
CREATE INDEX delegation_reservation_of_run ON delegation_reservation (run) WHERE run IS NOT NULL AND settled_cents IS NULL;
CREATE INDEX delegation_reservation_open ON delegation_reservation (delegation) WHERE settled_cents IS NULL;

-- Places outside that are told of some things. Their secrets are kept nowhere.
CREATE TABLE webhook (
  id             TEXT PRIMARY KEY,
  owner          TEXT NOT NULL,
  host           TEXT NOT NULL,
  url            TEXT NOT NULL,
  topics         TEXT NOT NULL,    -- JSON
  agents         TEXT NOT NULL,    -- JSON: of whose calls alone; empty for everybody's
  description    TEXT NOT NULL,
  include_output INTEGER NOT NULL,
  format         TEXT NOT NULL,
  status         TEXT NOT NULL,
  generation     INTEGER NOT NULL, -- which of its secrets signs
  both_until     INTEGER,          -- until when the one before it signs too
  failing_since  INTEGER,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  deleted        INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_by_age ON webhook (created_at DESC, id) WHERE deleted = 0;
CREATE INDEX webhook_by_owner ON webhook (owner, created_at DESC, id) WHERE deleted = 0;
-- What is to be done outside, and what came of it.
CREATE TABLE outbox (
  id           TEXT PRIMARY KEY,
  kind         TEXT NOT NULL,      -- webhook
  recipient    TEXT NOT NULL,
  topic        TEXT NOT NULL,
  body         TEXT NOT NULL,
  state        TEXT NOT NULL,
  attempts     INTEGER NOT NULL,
  due_at       INTEGER,            -- of what is pending
  created_at   INTEGER NOT NULL,
  ended_at     INTEGER,
  last_at      INTEGER,
  last_outcome TEXT,
  http_status  INTEGER,
  error        TEXT
) STRICT;
CREATE INDEX outbox_pending ON outbox (recipient, due_at, id) WHERE state = 'pending';
CREATE INDEX outbox_ended ON outbox (recipient, created_at DESC, id DESC) WHERE state <> 'pending';
CREATE INDEX outbox_by_age ON outbox (recipient, created_at DESC, id);
CREATE INDEX outbox_tried ON outbox (recipient, last_at) WHERE last_at IS NOT NULL;

CREATE TABLE inbox (
  id          TEXT PRIMARY KEY,
  actor       TEXT NOT NULL,
  kind        TEXT NOT NULL,       -- approval, decision, alert
  subject     TEXT NOT NULL,
  title       TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  read_at     INTEGER,
  resolved_at INTEGER
) STRICT;
CREATE INDEX inbox_by_age ON inbox (actor, created_at DESC, id);
CREATE INDEX inbox_by_subject ON inbox (subject) WHERE resolved_at IS NULL;
CREATE INDEX inbox_of_actor_about ON inbox (actor, subject);

-- What people and agents write that can be erased.
CREATE TABLE content (
  id   TEXT NOT NULL,              -- a task or a run
  part TEXT NOT NULL,
  kept TEXT NOT NULL,              -- JSON
  seq  INTEGER NOT NULL,           -- the entry that holds it
  PRIMARY KEY (id, part)
) STRICT, WITHOUT ROWID;
-- What other programs' questions are about, as far as the company keeps it.
CREATE TABLE entity (
  id         TEXT PRIMARY KEY,
  kind       TEXT NOT NULL,        -- a type of the company's own schema
  name       TEXT NOT NULL,        -- its id there
  properties TEXT NOT NULL,        -- JSON
  seq        INTEGER NOT NULL,     -- the event that says so
  kept_at    INTEGER NOT NULL,
  UNIQUE (kind, name)
) STRICT;
CREATE INDEX entity_by_age ON entity (kept_at DESC, id);
CREATE INDEX entity_of_kind_by_age ON entity (kind, kept_at DESC, id);
CREATE TABLE task (
  id         TEXT PRIMARY KEY,
  title      TEXT NOT NULL,
  creator    TEXT NOT NULL,
  owner      TEXT,
  status     TEXT NOT NULL,
  priority   TEXT NOT NULL,
  due_at     INTEGER,
  parent     TEXT,
  deadlines  TEXT,                          -- JSON
  respond_by INTEGER,
  resolve_by INTEGER,
  stalled    INTEGER NOT NULL DEFAULT 0,    -- it was told that it was not seen to in time
  version    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  closed_at  INTEGER,
  archived_at INTEGER                       -- it is out of the lists
) STRICT;
CREATE INDEX task_to_be_told ON task (due_at, resolve_by, respond_by, status) WHERE closed_at IS NULL AND stalled = 0;
CREATE INDEX task_by_age ON task (created_at DESC, id);
CREATE INDEX task_by_owner ON task (owner, created_at DESC, id);
CREATE INDEX task_by_creator ON task (creator, created_at DESC, id);
CREATE INDEX task_listed_by_age ON task (created_at DESC, id) WHERE archived_at IS NULL;
CREATE INDEX task_listed_by_owner ON task (owner, created_at DESC, id) WHERE archived_at IS NULL;
CREATE INDEX task_listed_by_creator ON task (creator, created_at DESC, id) WHERE archived_at IS NULL;
CREATE INDEX task_to_archive ON task (closed_at, id) WHERE closed_at IS NOT NULL AND archived_at IS NULL;
CREATE TABLE task_ref (
  task  TEXT NOT NULL,
  place TEXT NOT NULL,             -- a collection, or url
  thing TEXT NOT NULL,
  note  TEXT NOT NULL,
  by    TEXT NOT NULL,
  at    INTEGER NOT NULL,
  PRIMARY KEY (task, place, thing)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_ref_by_thing ON task_ref (place, thing);
-- What people and agents have learnt. Statements are content.
CREATE TABLE knowledge (
  id            TEXT PRIMARY KEY,
  kind          TEXT NOT NULL,
  topics        TEXT NOT NULL,             -- JSON
  team          TEXT,                      -- whom it concerns, unless everybody
  person        TEXT,
  status        TEXT NOT NULL,
  origin        TEXT NOT NULL,
  source        TEXT NOT NULL,
  reasons       TEXT NOT NULL,             -- JSON: why it was quarantined
  labels        TEXT NOT NULL,             -- JSON: what the run had read in which it was learnt
  edited        INTEGER NOT NULL,          -- whether it was accepted in other words
  confidence    INTEGER,                   -- percent
  proposer      TEXT NOT NULL,
  run           TEXT,
  supersedes    TEXT,
  superseded_by TEXT,
  decided_by    TEXT,
  expires_at    INTEGER,
  version       INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX knowledge_by_age ON knowledge (created_at DESC, id);
CREATE INDEX knowledge_of_proposer ON knowledge (proposer, created_at DESC, id);
CREATE INDEX knowledge_of_person ON knowledge (person, created_at DESC, id);
CREATE INDEX knowledge_open ON knowledge (proposer) WHERE status IN ('proposed', 'quarantined');
CREATE INDEX knowledge_with_status ON knowledge (status, created_at DESC, id);
CREATE INDEX knowledge_ending ON knowledge (expires_at, id) WHERE status = 'accepted';
CREATE TABLE knowledge_topic (
  topic     TEXT NOT NULL,
  knowledge TEXT NOT NULL,
  PRIMARY KEY (topic, knowledge)
) STRICT, WITHOUT ROWID;
-- What is kept of documents, besides the entry of knowledge that each is.
CREATE TABLE document (
  knowledge    TEXT PRIMARY KEY,
  content_type TEXT NOT NULL,
  bytes        INTEGER NOT NULL,   -- of its text
  chunks       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- The passages of documents: where each stands in its text, in bytes. They go when the text is erased.
CREATE TABLE knowledge_chunk (
  number    INTEGER PRIMARY KEY,
  knowledge TEXT NOT NULL,
  chunk     INTEGER NOT NULL,
  first     INTEGER NOT NULL,
  after     INTEGER NOT NULL
) STRICT;
CREATE INDEX chunk_of_document ON knowledge_chunk (knowledge, chunk);
CREATE VIRTUAL TABLE knowledge_words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO knowledge_words (knowledge_words, rank) VALUES ('secure-delete', 1); -- what is erased is gone from the index
-- Which vectors models have made of what is known: from which passage on, and of how many; a statement is the passage 0.
CREATE TABLE knowledge_vectors (
  knowledge  TEXT NOT NULL,
  model      TEXT NOT NULL,
  first      INTEGER NOT NULL,
  chunks     INTEGER NOT NULL,
  dimensions INTEGER NOT NULL,
  PRIMARY KEY (knowledge, model, first)
) STRICT, WITHOUT ROWID;
-- The words of records and tasks; their texts stand in their own tables.
CREATE TABLE search_row (
  number INTEGER PRIMARY KEY,
  place  TEXT NOT NULL,            -- a collection, or '-tasks'
  id     TEXT NOT NULL,
  UNIQUE (place, id)
) STRICT;
CREATE VIRTUAL TABLE search USING fts5(
  open, confidential, untrusted, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TABLE run (
  id           TEXT PRIMARY KEY,
  task         TEXT NOT NULL,
  agent        TEXT NOT NULL,
  asker        TEXT NOT NULL,
  askers       TEXT NOT NULL,      -- JSON
  asked        TEXT NOT NULL,      -- JSON: who is to answer
  parent       TEXT,               -- the run that it is a part of
  depth        INTEGER NOT NULL,
  status       TEXT NOT NULL,
  wait         TEXT,               -- JSON
  due_at       INTEGER,            -- when it goes on by itself
  budget_cents INTEGER,
  steps        INTEGER NOT NULL,      -- all up to this one are over
  turn         INTEGER NOT NULL,      -- the model's answer whose calls are made together
  turn_end     INTEGER NOT NULL,      -- the step of the last of these calls
  calls        INTEGER NOT NULL,
  cost_cents   INTEGER NOT NULL,
  labels       TEXT NOT NULL,      -- JSON: of what it has read
  tokens_in    INTEGER NOT NULL,
  tokens_out   INTEGER NOT NULL,
  denied       TEXT,               -- not written any more: files of before have it
  denials      INTEGER NOT NULL,   -- how often it was refused the same thing, at the most
  failure      TEXT,
  error        TEXT,
  created_at   INTEGER NOT NULL,
  started_at   INTEGER,
  ended_at     INTEGER,
  archived_at  INTEGER,            -- it is out of the lists
  planned      INTEGER NOT NULL    -- its steps are a plan's
) STRICT;
CREATE INDEX run_by_age ON run (created_at DESC, id);
CREATE INDEX run_by_agent ON run (agent, created_at DESC, id);
CREATE INDEX run_by_asker ON run (asker, created_at DESC, id);
CREATE INDEX run_of_task ON run (task, created_at DESC, id);
CREATE INDEX run_listed_by_age ON run (created_at DESC, id) WHERE archived_at IS NULL;
CREATE INDEX run_listed_by_agent ON run (agent, created_at DESC, id) WHERE archived_at IS NULL;
CREATE INDEX run_listed_by_asker ON run (asker, created_at DESC, id) WHERE archived_at IS NULL;
CREATE INDEX run_archived_by_age ON run (created_at DESC, id) WHERE archived_at IS NOT NULL;
CREATE INDEX run_to_archive ON run (ended_at, id) WHERE ended_at IS NOT NULL AND archived_at IS NULL;
CREATE INDEX run_due ON run (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX run_due_for ON run (asker, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX run_of_parent ON run (parent) WHERE ended_at IS NULL;
CREATE INDEX run_open ON run (agent, id) WHERE ended_at IS NULL;
CREATE TABLE step (
  run        TEXT NOT NULL,
  number     INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  status     TEXT NOT NULL,
  target     TEXT NOT NULL,
  wait       TEXT,                 -- JSON: what it waits for, or waited for
  reason     TEXT,                 -- why it was denied, or failed
  tokens_in  INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  cost_cents INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- What each actor has done, by operation: how often and what it cost in the hour, the day and the month that it was done in last.
CREATE TABLE done (
  actor       TEXT NOT NULL,
  operation   TEXT NOT NULL,
  hour        INTEGER NOT NULL,     -- when it began
  hour_times  INTEGER NOT NULL,
  hour_cents  INTEGER NOT NULL,     -- with what is set aside for calls under way
  day         INTEGER NOT NULL,
  day_times   INTEGER NOT NULL,
  day_cents   INTEGER NOT NULL,
  month       INTEGER NOT NULL,
  month_times INTEGER NOT NULL,
  month_cents INTEGER NOT NULL,
  PRIMARY KEY (actor, operation)
) STRICT, WITHOUT ROWID;

-- The company's own data. Each collection is a table of its own besides, `brain_<name>`, made by the fold.
CREATE TABLE collection (
  name       TEXT PRIMARY KEY,
  definition TEXT NOT NULL,        -- JSON
  version    INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE record_version (
  collection TEXT NOT NULL,
  id         TEXT NOT NULL,
  version    INTEGER NOT NULL,
  what       TEXT NOT NULL,
  fields     TEXT NOT NULL,        -- JSON, without what is personal
  by         TEXT NOT NULL,
  run        TEXT,
  at         INTEGER NOT NULL,
  follows    INTEGER NOT NULL,     -- the version before it is kept, too
  removed    INTEGER NOT NULL,     -- of the first one only who made the record stays
  PRIMARY KEY (collection, id, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_version_following ON record_version (collection, at, version) WHERE follows = 1;
CREATE TABLE record_flag (
  id         TEXT PRIMARY KEY,
  collection TEXT NOT NULL,
  record     TEXT NOT NULL,
  kind       TEXT NOT NULL,
  note       TEXT NOT NULL,
  by         TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX record_flag_by_age ON record_flag (created_at DESC, id);
CREATE INDEX record_flag_by_maker ON record_flag (by, created_at DESC, id);
CREATE INDEX record_flag_of_record ON record_flag (collection, record);
CREATE TABLE schema_proposal (
  id         TEXT PRIMARY KEY,
  collection TEXT NOT NULL,
  ops        TEXT NOT NULL,        -- JSON
  base       INTEGER NOT NULL,     -- the collection's version that it was made from
  reason     TEXT NOT NULL,
  proposer   TEXT NOT NULL,
  status     TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX schema_proposal_by_age ON schema_proposal (created_at DESC, id);
CREATE INDEX schema_proposal_by_proposer ON schema_proposal (proposer, created_at DESC, id);
CREATE INDEX schema_proposal_by_collection ON schema_proposal (collection, created_at DESC, id);
CREATE INDEX schema_proposal_open ON schema_proposal (proposer) WHERE status = 'proposed';
