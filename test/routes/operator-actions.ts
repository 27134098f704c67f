import type { RouteGateway } from './gateways.js';

interface Action extends Record<string, unknown> {
  actor: string;
  action: string;
  details: object;
}

/** The recorded changes of operators to this workspace or provider, in order. */
export const operatorActions = (gateway: RouteGateway, subject: string): Promise<Action[]> =>
  gateway.database.reads.query<Action>(
    'SELECT actor, action, details FROM operator_action WHERE subject = $1 ORDER BY id',
    [subject],
  );
