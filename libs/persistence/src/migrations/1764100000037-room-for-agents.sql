-- Coding agents make several calls at once. Workspaces that exist keep their limit.
ALTER TABLE workspace ALTER COLUMN inflight_limit SET DEFAULT 20;
