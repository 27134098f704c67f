export type TransportKind = 'redis' | 'postgres';

/**
 * For `describe.each(transports())('… on %s', (transport) => …)`: both, or only Postgres where there is no
 * Redis. With NO_SKIP=1 the run does not get here without one.
 */
export function transports(): TransportKind[] {
  return process.env['TEST_REDIS_SERVER'] ? ['redis', 'postgres'] : ['postgres'];
}
