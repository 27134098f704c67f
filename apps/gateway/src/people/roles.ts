import { type Scope, scopes, workspaceScopes } from '#schemas';

/** What people may do, by their role: the scopes of their sessions. */
export const roles = {
  viewer: ['catalog', 'requests', 'usage', 'workspace'],
  billing: ['catalog', 'usage', 'workspace'],
  developer: workspaceScopes,
  operator: scopes,
} as const satisfies Record<string, readonly Scope[]>;

export type Role = keyof typeof roles;
