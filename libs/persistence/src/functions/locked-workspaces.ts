/**
 * `locked_workspaces(ids, waits)`: the rows of these workspaces, locked in the order of their ids, so that no two
 * statements wait for each other. Without `waits` those that somebody else has locked are left out.
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
