/**
 * `promote(workspace)` grants slots to parked runs in the order of their admission, while slots and spend allow.
 * The head of the line waits until both fit. The function locks the workspace row before it reads the line.
 * Otherwise it would miss a run that was parked while it waited for the lock, and that run would wait forever.
 * Returns the granted runs, which now wait for a worker.
 */
export const promote = /* sql */ `
CREATE OR REPLACE FUNCTION promote(space_id uuid) RETURNS TABLE (run_id uuid, provider text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  space workspace%ROWTYPE;
  head outbox%ROWTYPE;
BEGIN
  SELECT * INTO space FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
  WHILE space.backlog > 0 AND space.inflight < space.inflight_limit LOOP
    SELECT * INTO STRICT head FROM outbox
    WHERE workspace_id = space_id AND NOT dispatched AND queue = 'backlog' ORDER BY place LIMIT 1;
    EXIT WHEN space.committed_micros + head.reserved_micros > space.committed_limit_micros;
    UPDATE run SET stage = 'ready', granted_at = router_now() WHERE id = head.run_id;
    UPDATE outbox SET queue = 'dispatch', waiting = true WHERE workspace_id = space_id AND run_id = head.run_id;
    PERFORM leave_backlog(space_id, head.place);
    space.inflight := space.inflight + 1;
    space.committed_micros := space.committed_micros + head.reserved_micros;
    space.backlog := space.backlog - 1;
    run_id := head.run_id;
    provider := head.provider;
    RETURN NEXT;
  END LOOP;
  UPDATE workspace SET inflight = space.inflight, committed_micros = space.committed_micros, backlog = space.backlog,
    undispatched = undispatched + backlog - space.backlog
  WHERE id = space_id AND backlog <> space.backlog;
END $$;
`;
