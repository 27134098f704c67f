/** Whoever holds credentials in memory listens here; the payload is the id of their workspace. */
export const credentialChannel = 'mr_credentials';

/** Tells when a key or what a workspace may do has changed, whoever changed it. */
export const credentialChanges = /* sql */ `
CREATE FUNCTION tell_credentials_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('${credentialChannel}', to_jsonb(OLD) ->> TG_ARGV[0]);
  RETURN NULL;
END $$;
CREATE TRIGGER api_key_changed AFTER UPDATE OR DELETE ON api_key
  FOR EACH ROW EXECUTE FUNCTION tell_credentials_changed('workspace_id');
-- Of these columns only: every admission updates the counters of its workspace.
CREATE TRIGGER workspace_changed AFTER UPDATE OF enabled, visible, runnable ON workspace
  FOR EACH ROW EXECUTE FUNCTION tell_credentials_changed('id');
`;
