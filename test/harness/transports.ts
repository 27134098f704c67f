export type TransportKind = 'redis' | 'postgres';

/**
 * For `describe.each(transports())('… on %s', (transport) => …)`: both transports, or only Postgres without a
 * Redis. With NO_SKIP=1 the set-up already failed in that case.
 */
export function transports(): TransportKind[] {
  return process.env['TEST_REDIS_SERVER'] ? ['redis', 'postgres'] : ['postgres'];
}
