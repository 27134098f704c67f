/**
 * What columns may hold that every run writes. The CHECK of a table is parsed and planned anew by each statement that
 * writes to it, whatever its columns; that of a domain is kept, and looked at when a value is set. Checks over several
 * columns are left with their tables.
 */
export const domains = /* sql */ `
CREATE DOMAIN quantity AS integer CHECK (VALUE >= 0);
CREATE DOMAIN micros AS bigint CHECK (VALUE >= 0);
CREATE DOMAIN byte_count AS bigint CHECK (VALUE >= 0);
CREATE DOMAIN price_factor AS numeric CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN run_mode AS text CHECK (VALUE IN ('queued', 'sync'));
CREATE DOMAIN run_stage AS text CHECK (VALUE IN ('parked', 'ready', 'submitting', 'running', 'copying', 'completed'));
CREATE DOMAIN run_outcome AS text CHECK (VALUE IN ('succeeded', 'failed', 'cancelled'));
CREATE DOMAIN run_queue AS text CHECK (VALUE IN ('backlog', 'dispatch', 'poll', 'assets'));
CREATE DOMAIN payload_kind AS text CHECK (VALUE IN ('input', 'output'));
CREATE DOMAIN billing_basis AS text CHECK (VALUE IN ('reported', 'computed', 'flat'));
`;
