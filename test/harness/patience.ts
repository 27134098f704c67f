/** For a Postgres that no test takes away: an answer is late only when the machine is busy, and never refused for that. */
export const patience = { DATABASE_ACQUIRE_MS: '20000', DATABASE_STATEMENT_MS: '20000' };
