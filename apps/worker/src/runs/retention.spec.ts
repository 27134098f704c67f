import { describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { createLog, Metrics } from '#observability';
import type { ClockSkew, RetentionRepository, StoredObjectRepository } from '#persistence';
import type { AssetStore } from '#storage';
import { Retention } from './retention.js';

const log = createLog('worker', 'fatal');

/** Verbs that answer from a script and then with 0. Records the order of the calls. */
function scripted(script: Partial<Record<string, (number | Error)[]>>) {
  const calls: string[] = [];
  const round = new EventEmitter();
  const end = once(round, 'end');
  const verb = (name: string) => async () => {
    calls.push(name);
    if (name === 'measured_runs') round.emit('end');
    const next = script[name]?.shift() ?? 0;
    if (next instanceof Error) throw next;
    return next;
  };
  const dropDay = async () => ((await verb('dropDay')()) === 0 ? null : '2026-01-01');
  const upkeep = {
    ensurePartitions: verb('ensurePartitions'),
    eraseExpired: verb('eraseExpired'),
    releaseObjects: verb('releaseObjects'),
    ageOut: verb('ageOut'),
    dropDay,
    addUpUsage: verb('addUpUsage'),
    deleteOld: (table: string) => verb(table)(),
  };
  const objects = {
    takeDue: async () => Array.from({ length: await verb('deleteDue')() }, () => 'key'),
    forget: async () => {},
  };
  const store = { delete: async () => {}, abortStale: verb('abortStale') };
  return { upkeep, objects, store, calls, end };
}

const retentionOf = (
  { upkeep, objects, store }: Pick<ReturnType<typeof scripted>, 'upkeep' | 'objects' | 'store'>,
  problem?: string,
  metrics = new Metrics(),
) =>
  new Retention(
    upkeep as unknown as RetentionRepository,
    store as unknown as AssetStore,
    objects as unknown as StoredObjectRepository,
    { problem } as ClockSkew,
    metrics,
    { RETENTION_EVERY_MS: 3_600_000, STORE_DOUBT_SECONDS: 60 },
    log,
    log,
  );

async function oneRound(
  script: Parameters<typeof scripted>[0],
  problem?: string,
  metrics?: Metrics,
): Promise<string[]> {
  const { calls, end, ...verbs } = scripted(script);
  const retention = retentionOf(verbs, problem, metrics);
  retention.onApplicationBootstrap();
  await end;
  await retention.onModuleDestroy();
  return calls;
}

describe('a round of retention', () => {
  it('does not abort stale uploads while the clock is wrong', async () => {
    expect(await oneRound({})).toContain('abortStale');
    expect(await oneRound({}, 'this clock is ahead')).not.toContain('abortStale');
  });

  it('repeats each verb until nothing is left', async () => {
    expect(await oneRound({ ageOut: [500, 20], deleteDue: [100], dropDay: [1, 1] })).toEqual([
      'ensurePartitions',
      'idempotency_key',
      'eraseExpired',
      'releaseObjects',
      'dropDay',
      'dropDay',
      'dropDay',
      'ageOut',
      'ageOut',
      'ageOut',
      'run_attempts',
      'deleteDue',
      'deleteDue',
      'abortStale',
      'tombstone',
      'unkeyed_call',
      'joined_call',
      'webhook',
      'shared_run',
      'provider_surprise',
      'ledger_entry',
      'own_key',
      'provider_pause',
      'api_key',
      'addUpUsage',
      'audit_record',
      'run_attribution',
      'usage_sum',
      'usage_dimension_sum',
      'measured_runs',
    ]);
  });

  it('leaves partitions that could not be created to the next round', async () => {
    const calls = await oneRound({ ensurePartitions: [3, 3] });
    expect(calls.filter((name) => name === 'ensurePartitions')).toHaveLength(1);
  });

  it('continues with the next verb when one fails', async () => {
    const calls = await oneRound({ idempotency_key: [new Error('away')], ageOut: [new Error('away')] });
    expect(calls.slice(0, 8)).toEqual([
      'ensurePartitions',
      'idempotency_key',
      'eraseExpired',
      'releaseObjects',
      'dropDay',
      'ageOut',
      'run_attempts',
      'deleteDue',
    ]);
  });

  it('counts each step that fails', async () => {
    const metrics = new Metrics();
    await oneRound({ idempotency_key: [new Error('away')] }, undefined, metrics);
    const { values } = await metrics.retentionFailures.get();
    expect(values.map(({ labels, value }) => [labels.step, value])).toEqual([
      ['expired idempotency keys', 1],
    ]);
  });

  it('stops between two batches', async () => {
    const { upkeep, objects, store, calls } = scripted({});
    const ageOut = async () => {
      calls.push('ageOut');
      void retention.onModuleDestroy();
      return 500;
    };
    const retention = retentionOf({ upkeep: { ...upkeep, ageOut }, objects, store });
    retention.onApplicationBootstrap();
    await retention.onModuleDestroy();
    expect(calls).not.toContain('tombstone');
  });
});
