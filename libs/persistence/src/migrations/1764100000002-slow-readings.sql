-- How often reading the reply that is read next took too long.
ALTER TABLE run ADD COLUMN slow_readings integer NOT NULL DEFAULT 0;
