-- What a workspace allows and demands: its runs as public samples, and tags or an end user on each run.
ALTER TABLE workspace ADD COLUMN allow_samples boolean NOT NULL DEFAULT false,
  ADD COLUMN required_tags text[] NOT NULL DEFAULT '{}',
  ADD COLUMN requires_user boolean NOT NULL DEFAULT false;

-- Gateways cache these with the credential.
CREATE TRIGGER workspace_tell_demands AFTER UPDATE OF required_tags, requires_user ON workspace
  FOR EACH ROW EXECUTE FUNCTION tell_credentials_changed('id');

-- Whether a budget of end users counts the calls without one. Budgets that exist do.
ALTER TABLE budget ADD COLUMN counts_none boolean NOT NULL DEFAULT true;
