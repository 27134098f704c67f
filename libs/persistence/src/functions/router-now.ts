/**
 * The clock for every timestamp in this schema: the server's clock plus `router.clock_offset`. Only tests set that
 * offset, for a session, so that they need not wait for expiries. Once set and reset in a session, it reads as ''
 * instead of NULL.
 *
 * `router_now()` advances during a statement. `router_statement_now()` is constant during a statement, so it can be
 * used in an index search, and the planner can estimate the number of rows.
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
