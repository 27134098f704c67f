import type { RouteGateway } from './gateways.js';

interface Action extends Record<string, unknown> {
  actor: string;
  action: string;
  details: object;
}

/** The recorded changes by operators to this workspace or provider, oldest first. */
export const operatorActions = (gateway: RouteGateway, subject: string): Promise<Action[]> =>
  gateway.database.reads.query<Action>(
    'SELECT actor, action, details FROM operator_action WHERE subject = $1 ORDER BY id',
    [subject],
  );
