import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { failOnLeftovers } from '../harness/index.js';
import { Bench, consume, deliverAll, newProvider, newRunId } from './bench.js';
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
      const gateway = await bench.transport();
      const provider = newProvider();
      const items = (['dispatch', 'poll', 'assets'] as const).flatMap((lane) =>
        Array.from({ length: 100 }, () => ({ lane, provider, runId: newRunId(), afterMs: 0 })),
      );
      gateway.listen(newRunId(), () => {});
      await deliverAll(gateway, items);
      await until(async () => {
        gatewayPeak = Math.max(gatewayPeak, await opened());
        return gatewayPeak >= 3;
      }, 60_000);

      const worker = await bench.transport();
      let handled = 0;
      const handle = async (runId: string) => {
        handled += 1;
        await worker.announce(runId);
        return { kind: 'done' } as const;
      };
      worker.listen(newRunId(), () => {});
      for (const lane of ['poll', 'assets'] as const) {
        worker.consume({ lane, provider, concurrency: 20, handle });
      }
      for (let n = 0; n < 10; n += 1) consume(worker, n === 0 ? provider : newProvider(), handle, 20);
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

failOnLeftovers();
