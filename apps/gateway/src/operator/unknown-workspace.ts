import { didYouMean } from '#catalog';
import { RouterError } from '#errors';
import type { WorkspaceRepository } from '#persistence';

/** A 404 with the names that are nearest to the given one. */
export async function unknownWorkspace(
  workspaces: WorkspaceRepository,
  nameOrId: string,
): Promise<RouterError> {
  const hint = didYouMean(nameOrId, await workspaces.names());
  return new RouterError('invalid_input', `There is no such workspace.${hint}`, { status: 404 });
}
