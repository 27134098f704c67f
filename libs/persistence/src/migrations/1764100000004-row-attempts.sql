-- How often workers have taken the row since one of them last put it back: without Redis the row is the queue.
ALTER TABLE outbox ADD COLUMN attempts smallint NOT NULL DEFAULT 0;
