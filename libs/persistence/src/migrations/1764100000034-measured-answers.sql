-- What the model of a text run wrote: {"tokens", "ms", "isOpen"?}.
ALTER TABLE audit_record ADD COLUMN written jsonb;
-- The same added up with the other figures of a day, for each of up to ten workspaces: their counts by name, by workspace.
ALTER TABLE measured_runs ADD COLUMN answers jsonb;
