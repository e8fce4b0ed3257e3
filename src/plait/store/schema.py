"""The tables of the two files, and every SQL statement used on them.

The file's header has an application id and, as `user_version`, the version of the tables. Changing the tables raises
SCHEMA: older files are upgraded, newer ones are refused.
"""

from __future__ import annotations

SCHEMA_VERSION = 1
PAGE_SIZE = 4096
JOURNAL_APPLICATION_ID = 0x706C616A  # "plaj"
INBOX_APPLICATION_ID = 0x706C6169  # "plai"

JOURNAL_TABLES = """
-- One row: whose journal this is and where its list ends. It is written with every commit, so a lost end shows.
CREATE TABLE meta (
  one      INTEGER PRIMARY KEY,  -- 1
  id       TEXT    NOT NULL,  -- random, made at birth
  schema   INTEGER NOT NULL,
  last     INTEGER NOT NULL,  -- the newest record's seq, 0 when there is none
  tip      BLOB    NOT NULL,  -- the newest record's check
  settings BLOB    NOT NULL,  -- a digest of the table settings
  seal     BLOB    NOT NULL   -- a digest of this row
) STRICT;

-- The list of facts. Rows are only ever added, in the order of seq, without a gap.
CREATE TABLE records (
  seq     INTEGER PRIMARY KEY,
  at      REAL    NOT NULL,
  version INTEGER NOT NULL,  -- codec.VERSION when it was written
  kind    TEXT    NOT NULL,
  event   BLOB    NOT NULL,  -- JSON
  "check" BLOB    NOT NULL   -- see checksums.py
) STRICT;

-- What was saved through the page or the API, as JSON texts.
CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

INBOX_TABLES = """
-- Requests that the engine has not taken yet. `arrival` orders them.
CREATE TABLE waiting (
  arrival INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT    NOT NULL UNIQUE,
  version INTEGER NOT NULL,  -- codec.VERSION of the front that asked
  kind    TEXT    NOT NULL,
  body    BLOB    NOT NULL,  -- JSON
  "check" BLOB    NOT NULL   -- a digest of the row: damage costs this request and no other
) STRICT;

-- The ids of those that were taken, so that a late second copy is known.
CREATE TABLE taken (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
"""

BEGIN = "BEGIN IMMEDIATE"
INSERT_HEAD = "INSERT INTO meta VALUES (1, ?, ?, ?, ?, ?, ?)"
SELECT_HEAD = "SELECT id, schema, last, tip, settings, seal FROM meta"
UPDATE_HEAD = "UPDATE meta SET last = ?, tip = ?, settings = ?, seal = ?"
TOUCH_HEAD = "UPDATE meta SET last = last"
INSERT_RECORD = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)"
SELECT_RECORDS = 'SELECT seq, at, version, kind, event, "check" FROM records ORDER BY seq'
SELECT_RECORDS_AFTER = (
    'SELECT seq, at, version, kind, event, "check" FROM records WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?'
)
SELECT_CHECK = 'SELECT "check" FROM records WHERE seq = ?'
SELECT_SETTINGS = "SELECT name, value FROM settings ORDER BY name"
UPSERT_SETTING = "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
DELETE_SETTING = "DELETE FROM settings WHERE name = ?"

INSERT_REQUEST = """
INSERT INTO waiting (id, version, kind, body, "check")
SELECT :id, :version, :kind, :body, :check WHERE NOT EXISTS (SELECT 1 FROM taken WHERE id = :id)
ON CONFLICT (id) DO NOTHING
"""
SELECT_WAITING = 'SELECT id, version, kind, body, "check" FROM waiting ORDER BY arrival'
DELETE_WAITING = "DELETE FROM waiting WHERE id = ?"
INSERT_TAKEN = "INSERT INTO taken VALUES (?) ON CONFLICT (id) DO NOTHING"
