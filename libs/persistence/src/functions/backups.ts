/**
 * `record_backup(actor, details, taken_at)` records a backup of the database that can be restored. The role of the
 * backup calls it and cannot write to any table.
 */
export const backups = /* sql */ `
CREATE OR REPLACE FUNCTION record_backup(actor text, details jsonb, taken_at timestamptz DEFAULT router_now()) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  INSERT INTO operator_action (at, actor, action, subject, details)
  VALUES (taken_at, record_backup.actor, 'backup.record', 'backup', record_backup.details)
$$;
`;
