import { describe, expect, it } from '@jest/globals';
import { maxSlotless } from '#queue';
import { Client } from 'pg';
import { failOnLeftovers } from '../harness/index.js';
import { Bench, newProvider, newRunId } from './bench.js';
import { startServer, transportSuite } from './suite.js';
import { closedGate, until } from './until.js';

transportSuite('postgres');

describe('connections to the database', () => {
  it('for notices are at most 3 per gateway and 4 per worker', async () => {
    const server = await startServer('postgres');
    const bench = new Bench('postgres', server.url);
    const observer = new Client({ connectionString: server.url, application_name: 'observer' });
    await observer.connect();
    const opened = async () => {
      const { rows } = await observer.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'model-router %'`,
      );
      return rows[0]?.n ?? 0;
    };
    let gatewayPeak = 0;
    let workerPeak = 0;
    try {
      const { queues, signals } = await bench.queues();
      let woken = 0;
      signals.subscribe(newRunId(), () => (woken += 1));
      await until(async () => {
        queues.wake(newProvider(), newProvider());
        await Promise.all([queues.runNow('poll', newRunId()), signals.publish(newRunId())]);
        gatewayPeak = Math.max(gatewayPeak, await opened());
        return woken > 0 && gatewayPeak >= 3;
      }, 60_000);

      const worker = await bench.queues();
      const heard = new Set<string>();
      const listener = worker.queues.onWakeUp((provider) => heard.add(provider));
      worker.consume(newProvider(), async () => ({ kind: 'done' }));
      await until(async () => {
        queues.wake('heard');
        worker.queues.wake(newProvider());
        await worker.signals.publish(newRunId());
        workerPeak = Math.max(workerPeak, (await opened()) - gatewayPeak);
        return heard.has('heard') && workerPeak >= 3;
      }, 60_000);
      await listener.close();
    } finally {
      await bench.clear();
      await observer.end();
      await server.stop();
    }
    expect(gatewayPeak).toBeLessThanOrEqual(3);
    expect(workerPeak).toBeLessThanOrEqual(4);
  });
});

describe('signals', () => {
  it('are batched: many signals take few transactions', async () => {
    const server = await startServer('postgres');
    const bench = new Bench('postgres', server.url);
    const observer = new Client(server.url);
    await observer.connect();
    const commits = async () => {
      await observer.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await observer.query<{ n: number }>(
        'SELECT xact_commit::int AS n FROM pg_stat_database WHERE datname = current_database()',
      );
      return rows[0]?.n ?? 0;
    };
    try {
      const [teller, gateway] = await Promise.all([bench.queues(), bench.queues()]);
      const heard = new Set<string>();
      const runIds = Array.from({ length: 2_000 }, newRunId);
      for (const runId of runIds) gateway.signals.subscribe(runId, () => heard.add(runId));
      await until(() => heard.size === runIds.length, 60_000);
      heard.clear();
      const before = await commits();
      await Promise.all(runIds.map((runId) => teller.signals.publish(runId)));
      await until(() => heard.size === runIds.length, 60_000);
      expect((await commits()) - before).toBeLessThan(100);
    } finally {
      await bench.clear();
      await observer.end();
      await server.stop();
    }
  });
});

describe('rows', () => {
  it('are taken up to a limit, and the rest keep waiting', async () => {
    const server = await startServer('postgres');
    const bench = new Bench('postgres', server.url);
    try {
      const app = await bench.queues();
      const provider = newProvider();
      const gate = closedGate();
      let begun = 0;
      const hold = async () => {
        begun += 1;
        await gate.opened;
        return { kind: 'done' } as const;
      };
      app.consume(provider, hold, 2_000, 'poll');
      await app.enqueue(
        Array.from({ length: 1_500 }, () => ({ queue: 'poll', provider, runId: newRunId() })),
      );
      await until(() => begun >= maxSlotless, 60_000);
      await until(async () => (await taken(server.url)) === begun, 60_000);
      expect(begun).toBeLessThan(maxSlotless + 100);
      gate.open();
      await until(() => begun === 1_500, 60_000);
      await until(async () => (await app.left()) === 0, 60_000);
    } finally {
      await bench.clear();
      await server.stop();
    }
  });
});

describe('polls', () => {
  it('take few transactions each when many are due', async () => {
    const server = await startServer('postgres');
    const bench = new Bench('postgres', server.url);
    const observer = new Client(server.url);
    await observer.connect();
    const commits = async () => {
      const { rows } = await observer.query<{ n: number }>(
        'SELECT xact_commit::int AS n FROM pg_stat_database WHERE datname = current_database()',
      );
      return rows[0]?.n ?? 0;
    };
    try {
      const app = await bench.queues();
      const provider = newProvider();
      const times = new Map<string, number>();
      let polls = 0;
      app.consume(
        provider,
        async (runId) => {
          polls += 1;
          times.set(runId, (times.get(runId) ?? 0) + 1);
          return { kind: 'retry', delayMs: 300 };
        },
        1_000,
        'poll',
      );
      await app.enqueue(
        Array.from({ length: 1_000 }, () => ({ queue: 'poll', provider, runId: newRunId() })),
      );
      await until(() => polls >= 1_000, 60_000);
      const [commitsBefore, pollsBefore] = [await commits(), polls];
      await until(() => polls >= 6_000, 60_000);
      await bench.clear();
      // Sessions report their transactions when they end.
      await until(async () => (await commits()) > commitsBefore, 60_000);
      const commitsPerPoll = ((await commits()) - commitsBefore) / (polls - pollsBefore);
      process.stdout.write(`commits per poll: ${commitsPerPoll.toFixed(3)}\n`);
      expect(commitsPerPoll).toBeLessThan(0.2);
    } finally {
      await bench.clear();
      await observer.end();
      await server.stop();
    }
  });
});

/** The number of rows in progress. */
async function taken(url: string): Promise<number> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM outbox WHERE attempts > 0',
  );
  await client.end();
  return rows[0]?.n ?? 0;
}

failOnLeftovers();
