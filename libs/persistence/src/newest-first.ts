/** The largest possible id. */
export const newestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Selects the rows of workspace `$1`, or of all workspaces if it is null, whose id is below `$2`, newest
 * first. The rows of one workspace are selected as a range of pairs, not by equality, so that the index of
 * that pair is used. With an equality the planner might instead walk the ids of all workspaces backwards to
 * find twenty rows of a quiet one.
 */
export function newestFirst(id: string, workspaceId: string | null): { where: string; orderBy: string } {
  if (workspaceId === null) return { where: `$1::uuid IS NULL AND ${id} < $2::uuid`, orderBy: `${id} DESC` };
  return {
    where: `(workspace_id, ${id}) >= ($1::uuid, '00000000-0000-0000-0000-000000000000'::uuid)
      AND (workspace_id, ${id}) < ($1::uuid, $2::uuid)`,
    orderBy: `workspace_id DESC, ${id} DESC`,
  };
}
