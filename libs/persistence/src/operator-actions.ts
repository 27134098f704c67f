import type { Database } from './database.js';

/** Who changed what, for those changes that no statement of their own records. */
interface Action {
  actor: string;
  /** Such as `key.revoke`. */
  action: string;
  subject: string;
  details?: object;
}

export async function recordOperatorAction(
  database: Database,
  { actor, action, subject, details = {} }: Action,
): Promise<void> {
  await database.write(
    'INSERT INTO operator_action (actor, action, subject, details) VALUES ($1, $2, $3, $4)',
    [actor, action, subject, details],
  );
}
