/** Processes that cache credentials listen on this channel. The payload is the id of the workspace. */
export const credentialChannel = 'mr_credentials';

/** Triggers that notify of every change of a key, a provider key or a workspace's permissions. */
export const credentialChanges = /* sql */ `
CREATE OR REPLACE FUNCTION tell_credentials_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- To note the use of a key changes no right.
  IF TG_OP = 'UPDATE' AND to_jsonb(OLD) -> 'last_used_at' IS DISTINCT FROM to_jsonb(NEW) -> 'last_used_at' THEN
    RETURN NULL;
  END IF;
  PERFORM pg_notify('${credentialChannel}', to_jsonb(coalesce(OLD, NEW)) ->> TG_ARGV[0]);
  RETURN NULL;
END $$;
`;
