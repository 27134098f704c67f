import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { holdToInvariants, System } from '../harness/faults.js';
import { eitherTransport, failOnLeftovers, newTag, waitFor } from '../harness/index.js';
import { temporaryFolder } from '../harness/running.js';

/** Providers that answer with a handle, with a result, and with a failure. */
const answers = [
  { model: 'bfl/flux-2-pro', fault: '' },
  { model: 'openai/gpt-image-1.5', fault: '' },
  { model: 'fal/flux-dev', fault: '[[sim:500_submit]]' },
];
const roomy = { inflightLimit: 50, windowLimit: 100_000, committedLimitMicros: 1_000_000_000_000 };

describe.each(eitherTransport())('a worker that stops while Postgres is down, on %s', (transport) => {
  const folder = path.join(temporaryFolder('spill'), 'worker');
  let system: System;
  beforeAll(async () => {
    const env = { SPILL_DIR: folder, WORKER_CLOSE_MS: '1000' };
    system = await System.start({ transport, gateways: 1, workers: 1, ownPostgres: true, env });
  });
  afterAll(() => system.stop());

  it('leaves what it knows to the worker that starts next', async () => {
    const caller = await system.caller(roomy);
    const tags = Array.from({ length: 12 }, () => newTag('away'));
    // A frozen simulator answers after the database has gone.
    system.simulator.child.kill('SIGSTOP');
    const runs = await Promise.all(
      tags.map((tag, nth) => {
        const { model, fault } = answers[nth % answers.length] ?? { model: '', fault: '' };
        return caller.submit(model, JSON.stringify({ prompt: `[[sim:tag=${tag}]]${fault}` }));
      }),
    );
    const sent = () =>
      system.sql('SELECT FROM run WHERE workspace_id = $1 AND sent_at IS NOT NULL', [caller.workspaceId]);
    await waitFor(async () => (await sent()).length === runs.length, {
      withinMs: 60_000,
      what: 'every submission to be sent',
      everyMs: 100,
    });
    const [stopping] = system.workers;
    if (stopping === undefined) throw new Error('no worker runs');
    await system.postgres.kill('SIGQUIT');
    system.simulator.child.kill('SIGCONT');
    const unsaved = async () => {
      const text = await (await fetch(`${stopping.internalUrl}/metrics`)).text();
      return Number(/^router_unsaved_outcomes(?:\{.*?\})? (\d+)$/m.exec(text)?.[1]);
    };
    await waitFor(async () => (await unsaved()) === runs.length, {
      withinMs: 60_000,
      what: 'the worker to hold every outcome',
      everyMs: 100,
    });
    await stopping.stop();
    system.forget(stopping);
    const [file = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
    await system.postgres.restart();
    const started = await system.startWorker();
    await Promise.all(runs.map((run) => caller.completed(run)));
    const outcomes = await system.sql<{ model: string; outcome: string; bucket: string | null }>(
      'SELECT DISTINCT model, outcome, bucket FROM run WHERE workspace_id = $1 ORDER BY model',
      [caller.workspaceId],
    );
    expect(outcomes).toEqual([
      { model: 'bfl/flux-2-pro', outcome: 'succeeded', bucket: null },
      { model: 'fal/flux-dev', outcome: 'failed', bucket: 'provider_error' },
      { model: 'openai/gpt-image-1.5', outcome: 'succeeded', bucket: null },
    ]);
    const accepted = await Promise.all(tags.map((tag) => system.provider.ledger(tag)));
    expect(accepted.map(({ length }) => length)).toEqual(tags.map((_tag, nth) => (nth % 3 === 2 ? 0 : 1)));
    expect(started.logs()).not.toContain('outcome at the provider is unknown');
    expect(readdirSync(folder)).toEqual([]);
    await holdToInvariants(system, 60_000);
  });
});

failOnLeftovers();
