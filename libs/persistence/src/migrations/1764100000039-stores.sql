-- The asset store that the process sees, by the id that is kept in it.
ALTER TABLE process ADD COLUMN store text;
