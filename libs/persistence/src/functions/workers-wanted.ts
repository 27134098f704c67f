/** Called by an autoscaler, as a role that cannot read any table. */
export const workersWanted = /* sql */ `
-- One worker for this many runs waiting to be submitted, and one for this many runs being polled.
CREATE OR REPLACE FUNCTION workers_wanted(submissions_each numeric, polled_each numeric) RETURNS numeric LANGUAGE sql STABLE
SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT count(*) FILTER (WHERE queue = 'dispatch') / submissions_each
    + count(*) FILTER (WHERE queue = 'poll') / polled_each
  FROM outbox WHERE queue <> 'backlog'
$$;
`;
