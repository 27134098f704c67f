import { UnknownWorkspace, type Workspace } from '#persistence';
import type { Services } from './open-database.js';
import { unknownName } from './unknown-name.js';

export type NamedWorkspace = Pick<Workspace, 'id' | 'name'>;

/** Finds a workspace, or deleted ones with this name: their records outlive them, and names recur. */
export async function everWorkspaces(
  { workspaces }: Services,
  nameOrId: string,
): Promise<[NamedWorkspace, ...NamedWorkspace[]]> {
  try {
    return [await workspaces.find(nameOrId)];
  } catch (error) {
    if (!(error instanceof UnknownWorkspace)) throw error;
    const [first, ...others] = await workspaces.deleted(nameOrId);
    if (first !== undefined) return [first, ...others];
    const names = [...(await workspaces.names()), ...(await workspaces.deleted()).map(({ name }) => name)];
    throw unknownName('workspace', nameOrId, new Set(names));
  }
}
