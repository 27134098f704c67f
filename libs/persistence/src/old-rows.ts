import { type RetentionSettings, tombstoneSeconds } from './settings.js';

export const ago = (interval: string) => `router_statement_now() - make_interval(${interval})`;

/**
 * For each table whose old rows are deleted: the condition (with the order) that selects them. A round of retention goes
 * through all of them.
 */
export function oldRowsOf({ RESULT_RETENTION_SECONDS, LEDGER_RETENTION_MONTHS }: RetentionSettings) {
  const expired = ago(`secs => ${RESULT_RETENTION_SECONDS}`);
  const forgotten = ago(`secs => ${RESULT_RETENTION_SECONDS + tombstoneSeconds}`);
  const closed = ago(`months => ${LEDGER_RETENTION_MONTHS}`);
  return {
    idempotency_key: 'expires_at <= router_statement_now()',
    tombstone: `completed_at <= ${forgotten} ORDER BY completed_at`,
    run_attempts: `run_id < v7_floor(${expired}) AND NOT EXISTS (
          SELECT FROM run WHERE run.id = run_id AND (completed_at IS NULL OR completed_at > ${expired})
        ) ORDER BY run_id`,
    // Delivered results have none; an older one no longer counts.
    unkeyed_call: `run_id < v7_floor(${ago('days => 1')}) ORDER BY run_id`,
    refused_call: `call_id < v7_floor(${ago('days => 1')}) ORDER BY call_id`,
    // Kept as long as their run is remembered.
    joined_call: `run_id < v7_floor(${forgotten}) AND NOT EXISTS (SELECT FROM run WHERE run.id = run_id AND completed_at IS NULL)
        AND NOT EXISTS (
          SELECT FROM audit_record WHERE audit_record.workspace_id = joined_call.workspace_id
            AND audit_record.run_id = joined_call.run_id AND completed_at > ${forgotten}
        ) ORDER BY run_id`,
    // Ended webhooks are listed as long as their run is remembered. The range of ids lets the index find them.
    webhook: `run_id < v7_floor(${forgotten}) AND ended_at <= ${forgotten} ORDER BY run_id`,
    shared_run: `run_id < v7_floor(${forgotten})
        AND NOT EXISTS (SELECT FROM kept_run WHERE kept_run.run_id = shared_run.run_id) ORDER BY run_id`,
    // A sample may quote a little of an input, so it is kept no longer than a result.
    provider_surprise: `last_at <= ${expired}`,
    // Readers fetch them within seconds.
    stream_piece: `sent_at <= ${ago('mins => 15')} ORDER BY sent_at`,
    ledger_entry: `at <= ${closed}`,
    // They remember expired runs, and list kept ones.
    audit_record: `completed_at <= least(${closed}, ${forgotten})
        AND NOT EXISTS (SELECT FROM kept_run WHERE kept_run.run_id = audit_record.run_id)`,
    // Found by id, and kept as long as the audit record.
    run_attribution: `run_id < v7_floor(least(${closed}, ${forgotten})) AND NOT EXISTS (
          SELECT FROM audit_record WHERE audit_record.workspace_id = run_attribution.workspace_id
            AND audit_record.run_id = run_attribution.run_id
        ) ORDER BY run_id`,
    // Live runs still settle in the windows in which they reserved.
    budget_window: `ends_at <= ${ago('days => 35')} AND reserved_micros = 0`,
    usage_sum: `at <= ${closed} - interval '1 day'`,
    usage_dimension_sum: `at <= ${closed} - interval '1 day'`,
    measured_runs: `day < timezone('UTC', router_statement_now())::date - 31`,
    // A former version stays for the polls of the runs that it submitted, but for a day at most.
    own_key: `ended_at <= ${ago('days => 1')} OR (ended_at IS NOT NULL AND NOT EXISTS (
          SELECT FROM outbox WHERE outbox.workspace_id = own_key.workspace_id
            AND outbox.provider = own_key.provider || '@' || own_key.workspace_id
        ))`,
    // Pauses of lines with a workspace's key. Those of providers are few, and stay.
    provider_pause: `strpos(provider, '@') > 0 AND until <= ${ago('days => 1')}`,
    // Keys end before every record that names them. The console lists codes and sessions for a month after their
    // end.
    api_key: `session_until <= ${ago('days => 30')} OR expires_at <= ${closed} OR revoked_at <= ${closed}`,
  } as const;
}

export type OldRows = ReturnType<typeof oldRowsOf>;

/** How rows end in each table that has no rule above. */
export const otherEnds = {
  run: '`drop_day`, `age_out` and `erase_runs` delete it.',
  payload: 'Deleted with its run.',
  kept_run: 'Its workspace keeps it until it says otherwise; `unkeep_run` deletes it.',
  kept_payload: 'Deleted with its row in `kept_run`.',
  model_sample: 'Deleted with its row in `kept_run` or `shared_run`.',
  stored_object: '`StoredObjectRepository` deletes it with its object.',
  outbox: 'Deleted with the outcome of its run.',
  backlog_chunk: '`promote` deletes it when its runs have left the backlog.',
  usage_progress: 'One row per workspace.',
  workspace_erasure: 'One row per workspace; that of a deleted one goes with its data.',
  workspace: 'An operator’s record, named by ledger entries.',
  budget: 'Its workspace deletes it. There are at most 50 per workspace.',
  operator_action: 'The record of what operators did. It has no content of a run.',
  process: 'A process deletes rows of processes that ended.',
  provider_health: 'One row per provider.',
  provider_check: 'One row per key of a provider.',
  provider_key: 'One row per key of a provider.',
  provider_overshoot: 'One row per price of a model; an operator clears it.',
  publisher: 'A record of the registry.',
  publisher_member: 'A record of the registry.',
  node: 'A record of the registry.',
  node_version: 'A record of the registry.',
  registry_revision: 'The only row.',
  registry_mirror: 'One row per mirrored registry.',
  migrations: 'One row per migration.',
  typeorm_metadata: 'Written by migrations alone.',
} as const satisfies Record<string, string>;
