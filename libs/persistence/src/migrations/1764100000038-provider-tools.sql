-- Whether the runs of a workspace may use tools that run at the provider, such as searches, which may have a fee.
ALTER TABLE workspace ADD COLUMN allow_provider_tools boolean NOT NULL DEFAULT true;

-- Gateways cache this with the credential.
CREATE OR REPLACE TRIGGER workspace_tell_demands
  AFTER UPDATE OF required_tags, requires_user, allow_provider_tools ON workspace
  FOR EACH ROW EXECUTE FUNCTION tell_credentials_changed('id');
