/**
 * The clock of everything that is written and compared here: the server's, plus `router.clock_offset`. Tests set that
 * offset for a session, so that what expires need not be waited for; nobody else sets it. A setting of this kind that
 * was once set and reset in a session reads as '' there.
 *
 * `router_now()` moves on while a statement runs. `router_statement_now()` stands still meanwhile, so an index can be
 * searched with it, and the planner can tell how many rows it will find.
 */
export const routerNow = /* sql */ `
CREATE OR REPLACE FUNCTION router_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN clock_timestamp() + coalesce(nullif(current_setting('router.clock_offset', true), '')::interval, '0');

CREATE OR REPLACE FUNCTION router_statement_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN statement_timestamp() + coalesce(nullif(current_setting('router.clock_offset', true), '')::interval, '0');

-- Rounded up; -1 once the deadline has passed. Clamped, because an integer holds only 24 days of milliseconds and a clock may be
-- further off than that.
CREATE OR REPLACE FUNCTION milliseconds_left(deadline timestamptz) RETURNS integer LANGUAGE sql STABLE STRICT
RETURN least(2147483647, greatest(-1, ceil(extract(epoch FROM deadline - router_now()) * 1000)))::integer;
`;
