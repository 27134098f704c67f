import type { KeyRow } from '#persistence';
import type { RouterKey } from '#schemas';

/** A key as its workspace sees it, without its text. */
export const shownKey = (row: KeyRow): RouterKey => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  state: row.state,
  created_at: row.createdAt.toISOString(),
  ...(row.expiresAt && { expires_at: row.expiresAt.toISOString() }),
  ...(row.revokedAt && { revoked_at: row.revokedAt.toISOString() }),
});
