/** Writers of the registry take turns, each until the end of its transaction. */
export const takeTurn = 'SELECT pg_advisory_xact_lock(727002)';
