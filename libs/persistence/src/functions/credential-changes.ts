/** Whoever holds credentials in memory listens here; the payload is the id of their workspace. */
export const credentialChannel = 'mr_credentials';

/** Tells when a key or what a workspace may do has changed, whoever changed it. */
export const credentialChanges = /* sql */ `
CREATE OR REPLACE FUNCTION tell_credentials_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('${credentialChannel}', to_jsonb(OLD) ->> TG_ARGV[0]);
  RETURN NULL;
END $$;
`;
