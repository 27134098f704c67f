import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { failOnLeftovers } from '../harness/index.js';
import { Bench, enqueueAll, newProvider, newRunId, newRuns } from './bench.js';
import { startServer, transportSuite } from './suite.js';
import { until } from './until.js';

transportSuite('postgres');

describe('connections to the database', () => {
  it('a gateway needs at most 4 and a worker at most 13', async () => {
    const server = await startServer('postgres');
    const bench = new Bench('postgres', server.url);
    const observer = new Client({ connectionString: server.url, application_name: 'observer' });
    await observer.connect();
    const opened = async () => {
      const { rows } = await observer.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> 'observer'`,
      );
      return rows[0]?.n ?? 0;
    };
    let gatewayPeak = 0;
    let workerPeak = 0;
    try {
      const gateway = await bench.queues();
      const provider = newProvider();
      const items = (['webhooks', 'poll', 'assets'] as const).flatMap((queue) =>
        Array.from({ length: 100 }, () => ({ queue, provider, runId: newRunId(), delayMs: 0 })),
      );
      gateway.signals.subscribe(newRunId(), () => {});
      await enqueueAll(gateway, items);
      await until(async () => {
        gatewayPeak = Math.max(gatewayPeak, await opened());
        return gatewayPeak >= 3;
      }, 60_000);

      const worker = await bench.queues();
      let handled = 0;
      const handle = async (runId: string) => {
        handled += 1;
        await worker.signals.publish(runId);
        return { kind: 'done' } as const;
      };
      worker.signals.subscribe(newRunId(), () => {});
      for (const queue of ['webhooks', 'poll', 'assets'] as const)
        worker.consume(provider, handle, 20, queue);
      await until(async () => {
        workerPeak = Math.max(workerPeak, (await opened()) - gatewayPeak);
        return handled === items.length;
      }, 60_000);
    } finally {
      await bench.clear();
      await observer.end();
      await server.stop();
    }
    expect(gatewayPeak).toBeLessThanOrEqual(4);
    expect(workerPeak).toBeLessThanOrEqual(13);
  });
});

describe('first contact with the database', () => {
  it('that fails is made again', async () => {
    const server = await startServer('postgres');
    const bench = new Bench('postgres', server.url);
    const operator = new Client(server.url);
    await operator.connect();
    try {
      const app = await bench.queues();
      await until(() => app.queues.healthy(), 60_000);
      const provider = newProvider();
      let handled = 0;
      await operator.query('ALTER TABLE bullmq.migration RENAME TO away');
      app.consume(provider, async () => {
        handled += 1;
        return { kind: 'done' };
      });
      await failedAtLeast(operator, 3);
      await operator.query('ALTER TABLE bullmq.away RENAME TO migration');
      await enqueueAll(app, newRuns(1, provider));
      await until(() => handled === 1, 60_000);
    } finally {
      await bench.clear();
      await operator.end();
      await server.stop();
    }
  });
});

describe('write-ahead log', () => {
  it('a run that is enqueued alone takes less than 4 KiB', async () => {
    const server = await startServer('postgres');
    const bench = new Bench('postgres', server.url);
    const observer = new Client(server.url);
    await observer.connect();
    const writtenBytes = async () => {
      const { rows } = await observer.query<{ bytes: number }>(
        `SELECT (pg_current_wal_insert_lsn() - '0/0')::float AS bytes`,
      );
      return rows[0]?.bytes ?? 0;
    };
    const tries: number[] = [];
    try {
      const app = await bench.queues();
      await enqueueAll(app, newRuns(1, newProvider()));
      for (let nth = 0; nth < 10; nth += 1) {
        const before = await writtenBytes();
        await enqueueAll(app, newRuns(1, newProvider()));
        tries.push((await writtenBytes()) - before);
      }
    } finally {
      await bench.clear();
      await observer.end();
      await server.stop();
    }
    // The others hold whole pages, which a checkpoint causes.
    expect(Math.min(...tries)).toBeLessThan(4 * 1024);
  });
});

/** Waits until so many statements have failed in the database. */
async function failedAtLeast(observer: Client, count: number): Promise<void> {
  const failed = async () => {
    const { rows } = await observer.query<{ n: number }>(
      'SELECT xact_rollback::int AS n FROM pg_stat_database WHERE datname = current_database()',
    );
    return rows[0]?.n ?? 0;
  };
  const before = await failed();
  await until(async () => (await failed()) >= before + count, 60_000);
}

failOnLeftovers();
