CREATE TABLE log_entry (
  seq  INTEGER PRIMARY KEY,
  leaf BLOB NOT NULL
) STRICT;
CREATE TABLE log_payload (
  seq  INTEGER PRIMARY KEY,
  salt BLOB,
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
  epoch  INTEGER NOT NULL
) STRICT;
CREATE TABLE log_checkpoint (
  size INTEGER PRIMARY KEY,
  root BLOB NOT NULL,
  ts   INTEGER NOT NULL,
  note TEXT NOT NULL
) STRICT;
-- What events are found by: `type:…`, `actor:…`, `ref:…`. Derived from the leaves; holds no truth of its own.
CREATE TABLE log_index (
  key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (key, seq)
) STRICT, WITHOUT ROWID;
