CREATE TABLE log_entry (
  seq  INTEGER PRIMARY KEY,
  leaf BLOB NOT NULL,
  salt BLOB,             -- with body: the payload; both NULL once erased
  body BLOB
) STRICT;
CREATE TABLE log_tile (
  level  INTEGER NOT NULL,
  idx    INTEGER NOT NULL,
  hashes BLOB NOT NULL,
  PRIMARY KEY (level, idx)
) STRICT;
CREATE TABLE log_head (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  origin TEXT NOT NULL,
  vkey   TEXT NOT NULL,
  size   INTEGER NOT NULL,
  root   BLOB NOT NULL,
  ts     INTEGER NOT NULL,
  note   TEXT NOT NULL,
  epoch  INTEGER NOT NULL, -- which owner of the file wrote last, counted from the first
  owner  BLOB NOT NULL     -- the log's signature under that
) STRICT;
CREATE TABLE log_checkpoint (
  size INTEGER PRIMARY KEY,
  root BLOB NOT NULL,
  ts   INTEGER NOT NULL,
  note TEXT NOT NULL
) STRICT;
-- What events are found by: hashes of `type:…`, `actor:…`, `ref:…`. Derived from the leaves, holds no truth of its own, and
-- covers the entries of full tiles: the newest, at most 255, are looked through one by one.
CREATE TABLE log_index (
  key     INTEGER NOT NULL,
  tile    INTEGER NOT NULL, -- of entries: (seq - 1) / 256
  offsets BLOB NOT NULL,    -- which of them: a byte each, (seq - 1) % 256, ascending
  PRIMARY KEY (key, tile)
) STRICT, WITHOUT ROWID;
-- Answers to be given again for the same Idempotency-Key; written with the effect, forgotten after a day.
CREATE TABLE idem (
  key        BLOB PRIMARY KEY,
  request    BLOB NOT NULL,
  status     INTEGER NOT NULL,
  body       BLOB NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idem_by_end ON idem (expires_at);
