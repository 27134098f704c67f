import { type Scope, scopes, workspaceScopes } from '#schemas';

/** The scopes of a person’s session, by role. */
export const roles = {
  viewer: ['catalog', 'requests', 'usage', 'workspace'],
  billing: ['catalog', 'usage', 'workspace'],
  developer: workspaceScopes,
  operator: scopes,
} as const satisfies Record<string, readonly Scope[]>;

export type Role = keyof typeof roles;
