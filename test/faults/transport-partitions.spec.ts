import { describe, expect, it } from '@jest/globals';
import { least } from '../harness/faults.js';
import { tcpProxy, transports } from '../harness/index.js';
import { type Bench, enqueueOne, shortCommandTimeout, newProvider, newRunId } from '../transport/bench.js';
import { until } from '../transport/until.js';
import { punctually } from './punctually.js';
import { faultyBench } from './transport-server.js';

const LOCK_MS = 3_000;
const BACK_MS = 5_000;

type Fault = 'blackhole' | 'half-open';

// The worker loses the connection to a server that all others still reach.
describe.each(transports())('a partition on %s', (kind) => {
  const { bench } = faultyBench(kind);

  it.each<Fault>(['blackhole', 'half-open'])(
    'a worker behind a %s releases its run, another takes it, and both work afterwards',
    async (fault) => {
      expect(await least(1, () => partition(bench(), fault))).toBeLessThan(1);
    },
  );
});

/** The larger share used of two limits: the time to release the run, and the time to recover. */
async function partition(bench: Bench, fault: Fault): Promise<number> {
  const proxy = await tcpProxy({ port: Number(new URL(bench.url).port) });
  const quick = { QUEUE_LOCK_MS: `${LOCK_MS}`, QUEUE_STALLED_MS: '1000' };
  const cutOff = await bench.queues({ ...quick, ...shortCommandTimeout }, proxy);
  const healthy = await bench.queues(quick);
  const provider = newProvider();
  const runId = newRunId();
  let abortedAfterMs = 0;
  let begunAtMs = 0;
  const handledBehind: string[] = [];
  cutOff.consume(provider, async (id, signal) => {
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
    await until(() => enqueueOne(healthy, provider, runId), 15_000);
    await until(() => begunAtMs > 0, 15_000);
    proxy.set(fault);
    const refused = async () => expect(await enqueueOne(cutOff, provider, newRunId())).toBe(false);
    expect(await punctually(refused)).toBeLessThan(600);

    let takenAfterMs = 0;
    const taker = await bench.queues(quick);
    taker.consume(provider, async (id) => {
      if (id === runId) takenAfterMs = Date.now() - begunAtMs;
      return { kind: 'done' };
    });
    await until(() => takenAfterMs > 0 && abortedAfterMs > 0, 25_000);
    process.stdout.write(
      `${fault}: released after ${abortedAfterMs} ms, taken ${takenAfterMs} ms after its start\n`,
    );

    await taker.close(1_000);
    proxy.set('pass');
    const later = newRunId();
    const handlesMs = await until(async () => {
      await enqueueOne(healthy, provider, later);
      return handledBehind.includes(later);
    }, 20_000);
    const deliversMs = await until(() => enqueueOne(cutOff, provider, newRunId()), 20_000);
    return Math.max(abortedAfterMs / (LOCK_MS * 2), handlesMs / BACK_MS, deliversMs / BACK_MS);
  } finally {
    proxy.set('pass');
    await bench.clear();
    await proxy.close();
  }
}
