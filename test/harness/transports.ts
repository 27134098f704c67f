export type TransportKind = 'redis' | 'postgres';

/**
 * For `describe.each(transports())('… on %s', (transport) => …)`: both transports, or only Postgres without a
 * Redis. With NO_SKIP=1 the set-up already failed in that case.
 */
export function transports(): TransportKind[] {
  return process.env['TEST_REDIS_SERVER'] ? ['redis', 'postgres'] : ['postgres'];
}

/**
 * For files about something else than delivery: one transport in `npm test`, the other one in `npm run test:rest`.
 */
export function eitherTransport(): TransportKind[] {
  const [first, second] = transports();
  const kind = process.env['TEST_REST'] === '1' ? second : first;
  return kind === undefined ? [] : [kind];
}
