-- A workspace's own key of a provider, encrypted so that only workers can read it. A row without ended_at is the current key;
-- a replaced or deleted one stays while its runs are live, because their polls need it.
CREATE TABLE own_key (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspace,
  provider text NOT NULL,
  -- The key's text, encrypted with a data key of its own.
  sealed bytea NOT NULL,
  -- The data key, encrypted to the public key with this fingerprint.
  wrapped_key bytea NOT NULL,
  wrapped_for text NOT NULL,
  -- The last characters of the key's text, by which its owner recognizes it. Null for a short key.
  last_characters text,
  set_by text NOT NULL,
  set_at timestamptz NOT NULL DEFAULT router_now(),
  ended_at timestamptz,
  -- What the provider last said about the key: nothing yet, that it accepts it, or that it rejects it.
  state text NOT NULL DEFAULT 'unused' CONSTRAINT own_key_state_check CHECK (state IN ('unused', 'accepted', 'rejected')),
  state_at timestamptz
);
CREATE UNIQUE INDEX own_key_current ON own_key (workspace_id, provider) WHERE ended_at IS NULL;
CREATE INDEX own_key_provider ON own_key (provider, workspace_id);
CREATE INDEX own_key_ended ON own_key (ended_at);
CREATE TRIGGER own_key_changed AFTER INSERT OR UPDATE OF ended_at OR DELETE ON own_key
  FOR EACH ROW EXECUTE FUNCTION tell_credentials_changed('workspace_id');

-- The part of the price that the workspace pays for a run with its own key of the provider.
ALTER TABLE workspace ADD COLUMN own_key_fee numeric NOT NULL DEFAULT 0;

-- own_key: such a fee. The existing rows have one of the former values, so they need not be read.
ALTER DOMAIN billing_basis DROP CONSTRAINT billing_basis_check;
ALTER DOMAIN billing_basis ADD CONSTRAINT billing_basis_check
  CHECK (VALUE IN ('reported', 'computed', 'flat', 'own_key')) NOT VALID;
