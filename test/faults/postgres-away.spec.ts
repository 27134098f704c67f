import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { holdToInvariants, System } from '../harness/faults.js';
import { eitherTransport, failOnLeftovers, newTag, waitFor } from '../harness/index.js';
import { freeze } from './postgres-side.js';

/** Longer than anything that a worker could sensibly wait for by a timer. */
const awayMs = Number(process.env['POSTGRES_AWAY_MS'] ?? 150_000);
/** Providers that answer with a handle, with a result, and with a failure. */
const answers = [
  { model: 'bfl/flux-2-pro', fault: '' },
  { model: 'openai/gpt-image-1.5', fault: '' },
  { model: 'fal/flux-dev', fault: '[[sim:500_submit]]' },
];
const roomy = { inflightLimit: 50, windowLimit: 100_000, committedLimitMicros: 1_000_000_000_000 };

describe.each(eitherTransport())(
  'a Postgres that is away for minutes while workers live, on %s',
  (transport) => {
    let system: System;
    beforeAll(async () => {
      system = await System.start({ transport, gateways: 1, workers: 2, ownPostgres: true });
    });
    afterAll(() => system.stop());

    it.each(['stopped', 'frozen'] as const)('loses nothing that a worker knows: %s', async (how) => {
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
      const goOn = how === 'frozen' ? freeze(system.postgres) : undefined;
      if (how === 'stopped') await system.postgres.kill('SIGQUIT');
      system.simulator.child.kill('SIGCONT');
      await sleep(awayMs);
      if (goOn) goOn();
      else await system.postgres.restart();
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
      expect(system.workers.map((worker) => worker.logs()).join('')).not.toContain(
        'outcome at the provider is unknown',
      );
      await holdToInvariants(system, 60_000);
    });
  },
);

failOnLeftovers();
