/** The newest id there can be. */
export const newestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * The rows of workspace `$1`, or of all when it is null, whose id is older than `$2`, newest first. Those of one workspace
 * are a range of pairs and not an equation, so that they are read by the index of that pair: an equation also lets the
 * planner walk the ids of all workspaces backwards, to find twenty of a quiet one.
 */
export function newestFirst(id: string, workspaceId: string | null): { where: string; orderBy: string } {
  if (workspaceId === null) return { where: `$1::uuid IS NULL AND ${id} < $2::uuid`, orderBy: `${id} DESC` };
  return {
    where: `(workspace_id, ${id}) >= ($1::uuid, '00000000-0000-0000-0000-000000000000'::uuid)
      AND (workspace_id, ${id}) < ($1::uuid, $2::uuid)`,
    orderBy: `workspace_id DESC, ${id} DESC`,
  };
}
