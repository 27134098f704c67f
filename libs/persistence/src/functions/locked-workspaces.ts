/**
 * `locked_workspaces(ids, waits)` locks the rows of these workspaces in the order of their ids, so that two
 * statements never wait for each other, and returns them. Without `waits`, it leaves out rows that another session
 * has locked.
 */
export const lockedWorkspaces = /* sql */ `
CREATE OR REPLACE FUNCTION locked_workspaces(ids uuid[], waits boolean) RETURNS SETOF workspace LANGUAGE plpgsql AS $$
BEGIN
  IF waits THEN
    RETURN QUERY SELECT * FROM workspace WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  ELSE
    RETURN QUERY SELECT * FROM workspace WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED;
  END IF;
END $$;
`;
