import { expect, it } from '@jest/globals';
import { tcpProxy } from '../harness/index.js';
import { type Bench, consume, deliverOne, impatient, newProvider, newRunId } from './bench.js';
import { until } from './until.js';

const LOCK_MS = 3_000;

/** A worker that loses the way to a server which everybody else still reaches. */
export function partitionCases(bench: () => Bench): void {
  it.each(['blackhole', 'half-open'] as const)(
    'a worker behind a %s lets go of its run, another takes it, and both work afterwards',
    async (fault) => {
      const proxy = await tcpProxy({ port: Number(new URL(bench().server.url).port) });
      const quick = { QUEUE_LOCK_MS: `${LOCK_MS}`, QUEUE_STALLED_MS: '1000' };
      const cutOff = await bench().transport({ ...quick, ...impatient }, proxy);
      const healthy = await bench().transport(quick);
      const provider = newProvider();
      const runId = newRunId();
      let abortedAfterMs = 0;
      let begunAtMs = 0;
      const handledBehind: string[] = [];
      consume(cutOff, provider, async (id, signal) => {
        handledBehind.push(id);
        if (id !== runId) return { kind: 'done' };
        begunAtMs = Date.now();
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve());
        });
        abortedAfterMs = Date.now() - begunAtMs;
        return { kind: 'done' };
      });
      try {
        await until(() => deliverOne(healthy, provider, runId), 15_000);
        await until(() => begunAtMs > 0, 10_000);
        proxy.set(fault);
        const startedAtMs = Date.now();
        expect(await deliverOne(cutOff, provider, newRunId())).toBe(false);
        expect(Date.now() - startedAtMs).toBeLessThan(600);

        let takenAfterMs = 0;
        const taker = consume(healthy, provider, async (id) => {
          if (id === runId) takenAfterMs = Date.now() - begunAtMs;
          return { kind: 'done' };
        });
        await until(() => takenAfterMs > 0 && abortedAfterMs > 0, 15_000);
        process.stdout.write(
          `${fault}: let go ${abortedAfterMs} ms, taken ${takenAfterMs} ms after its start\n`,
        );
        expect(abortedAfterMs).toBeLessThan(LOCK_MS * 2);

        await taker.close(1_000);
        proxy.set('pass');
        const later = newRunId();
        await until(async () => {
          await deliverOne(healthy, provider, later);
          return handledBehind.includes(later);
        }, 5_000);
        await until(() => deliverOne(cutOff, provider, newRunId()), 5_000);
      } finally {
        proxy.set('pass');
        await bench().clear();
        await proxy.close();
      }
    },
    60_000,
  );
}
