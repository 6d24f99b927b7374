-- A database with the tables of the first version, and one session of a pump; written by the .dump of the sqlite3 shell.
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO grdb_migrations VALUES ('sessions');
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    family TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    device TEXT,
    begun_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    ending TEXT
);
INSERT INTO sessions VALUES (1, 'pump', '/dev/ttyUSB0', '0403:6001/A50285BI', 1763708400000, 1763708460000, 'closed');
CREATE TABLE telemetry (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    time_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    reading TEXT NOT NULL
);
INSERT INTO telemetry VALUES (1, 1, 1763708401000, 'status', '{"state":"on","speed_percent":70,"skin_temp_c":34.5}');
CREATE INDEX telemetry_time ON telemetry (time_ms);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    time_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT
);
CREATE INDEX events_time ON events (time_ms);
CREATE TABLE errors (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    time_ms INTEGER NOT NULL,
    code TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX errors_time ON errors (time_ms);
