/**
 * `workers_wanted(submissions_each, polled_each)` is called by an autoscaler, as a role that cannot read any table.
 * It counts the runs that more workers could serve: runs that wait for a worker or are held by one, and runs being
 * polled. It leaves out parked runs, runs that were postponed, and runs whose provider is paused for the next call.
 */
export const workersWanted = /* sql */ `
-- One worker for this many submissions, and one for this many runs being polled.
CREATE OR REPLACE FUNCTION workers_wanted(submissions_each numeric, polled_each numeric) RETURNS numeric LANGUAGE sql STABLE
SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT coalesce(sum(CASE queue WHEN 'dispatch' THEN runs / submissions_each ELSE runs / polled_each END), 0)
  FROM (
    SELECT queue, provider,
      -- A lookup for each row reads only the run's own partition.
      count(*) FILTER (WHERE queue = 'poll' OR waiting OR (SELECT lease_until FROM run WHERE run.id = run_id) IS NOT NULL) AS runs
    FROM outbox WHERE queue IN ('dispatch', 'poll') GROUP BY queue, provider
  ) AS load
  WHERE paused_ms(provider, CASE queue WHEN 'dispatch' THEN 'submit' ELSE 'poll' END) IS NULL
$$;
`;
