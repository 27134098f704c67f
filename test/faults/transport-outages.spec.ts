import { describe, expect, it } from '@jest/globals';
import type { Transport } from '#queue';
import { least } from '../harness/faults.js';
import { transports } from '../harness/index.js';
import { announceUntil, consume, deliverOne, impatient, newProvider, newRunId } from '../transport/bench.js';
import { until } from '../transport/until.js';
import { punctually } from './punctually.js';
import { faultyBench } from './transport-server.js';

const PROMPT_MS = 600;
const BACK_MS = 5_000;
const CLOSE_MS = 5_000;

describe.each(transports())('a transport whose server goes away, on %s', (kind) => {
  const { bench, server } = faultyBench(kind);

  it('refuses promptly while the server is down, and consumes within 5 s of its return', async () => {
    const backMs = await least(BACK_MS, async () => {
      const transport = await bench().transport(impatient);
      const { provider, handled } = consumed(transport);
      const [before, kept, after] = [newRunId(), newRunId(), newRunId()];
      await until(() => deliverOne(transport, provider, before), 15_000);
      await until(() => handled.includes(before), 15_000);
      await until(() => deliverOne(transport, provider, kept, 1_500), 15_000);
      const said = (text: RegExp) => bench().log.lines.filter((line) => text.test(line)).length;
      // A busy server may have been taken for one that is away.
      await until(() => said(/ is back/) >= said(/ is away/), 15_000);
      bench().log.lines.length = 0;

      await server().kill();
      for (let n = 0; n < 5; n += 1) await refusedPromptly(transport, provider);
      await transport.hasten('dispatch', provider, kept);
      await transport.announce(kept);
      expect(await transport.healthy()).toBe(false);

      await server().restart();
      const tookMs = await until(async () => {
        await deliverOne(transport, provider, after);
        return handled.includes(after) && handled.includes(kept);
      }, 20_000);
      process.stdout.write(`consuming ${tookMs} ms after the server’s return\n`);
      expect(said(/ is away/)).toBe(1);
      await until(() => said(/ is back/) === 1, 15_000);
      await bench().clear();
      return tookMs;
    });
    expect(backMs).toBeLessThan(BACK_MS);
  });

  it('survives a second outage that begins during the recovery from the first', async () => {
    const transport = await bench().transport(impatient);
    const { provider, handled } = consumed(transport);
    const backMs = await least(BACK_MS, async () => {
      for (let round = 0; round < 3; round += 1) {
        await server().kill();
        await server().restart();
      }
      return handledAfterMs(transport, provider, handled);
    });
    expect(backMs).toBeLessThan(BACK_MS);
  });

  it('starts without the server, and works when it comes', async () => {
    const used = await least(1, async () => {
      await server().kill();
      const startedAtMs = Date.now();
      const [producer, consumer] = await Promise.all([
        bench().transport(impatient),
        bench().transport(impatient),
      ]);
      const startMs = Date.now() - startedAtMs;
      const { provider, handled } = consumed(consumer);
      expect(await deliverOne(producer, provider, newRunId())).toBe(false);
      expect(await producer.counts()).toEqual([]);
      await server().restart();
      const backMs = await handledAfterMs(producer, provider, handled);
      await bench().clear();
      return Math.max(startMs / 2_000, backMs / BACK_MS);
    });
    expect(used).toBeLessThan(1);
  });

  it('closes in bounded time while the server is down', async () => {
    const closeMs = await least(CLOSE_MS, async () => {
      const transport = await bench().transport(impatient);
      const consumer = consume(transport, newProvider(), async () => ({ kind: 'done' }));
      transport.listen(newRunId(), () => {});
      await until(() => transport.healthy(), 15_000);
      await server().kill();
      try {
        const startedAtMs = Date.now();
        await consumer.close(500);
        await transport.close();
        return Date.now() - startedAtMs;
      } finally {
        await server().restart();
      }
    });
    expect(closeMs).toBeLessThan(CLOSE_MS);
  });

  it('refuses promptly while the server is frozen, closes in bounded time, and recovers', async () => {
    const used = await least(1, async () => {
      const [transport, leaver] = await Promise.all([
        bench().transport(impatient),
        bench().transport(impatient),
      ]);
      const { provider, handled } = consumed(transport);
      const leaving = consume(leaver, newProvider(), async () => ({ kind: 'done' }));
      await until(() => transport.healthy(), 15_000);
      let closeMs = Infinity;
      server().freeze();
      try {
        for (let n = 0; n < 3; n += 1) await refusedPromptly(transport, provider);
        expect(await transport.healthy()).toBe(false);
        const startedAtMs = Date.now();
        await leaving.close(500);
        await leaver.close();
        closeMs = Date.now() - startedAtMs;
      } finally {
        server().thaw();
      }
      const backMs = await handledAfterMs(transport, provider, handled);
      await bench().clear();
      return Math.max(closeMs / CLOSE_MS, backMs / BACK_MS);
    });
    expect(used).toBeLessThan(1);
  });

  it('wakes listeners again after the server was away', async () => {
    const [worker, gateway] = await Promise.all([bench().transport(), bench().transport()]);
    const runId = newRunId();
    let woken = 0;
    gateway.listen(runId, () => (woken += 1));
    await announceUntil(worker, runId, () => woken > 0, 15_000);
    const backMs = await least(5_000, async () => {
      await server().kill();
      await worker.announce(runId);
      // A waiter that comes while the server is away is served after its return too.
      const late = newRunId();
      let lateWoken = 0;
      gateway.listen(late, () => (lateWoken += 1));
      const before = woken;
      await server().restart();
      // Nobody announces here: coming back is a reason to look.
      const tookMs = await until(() => woken > before && lateWoken > 0, 20_000);
      const seen = lateWoken;
      await announceUntil(worker, late, () => lateWoken > seen, 15_000);
      return tookMs;
    });
    expect(backMs).toBeLessThan(5_000);
  });
});

function consumed(transport: Transport) {
  const provider = newProvider();
  const handled: string[] = [];
  consume(transport, provider, async (runId) => {
    handled.push(runId);
    return { kind: 'done' };
  });
  return { provider, handled };
}

async function refusedPromptly(transport: Transport, provider: string): Promise<void> {
  const refused = async () => expect(await deliverOne(transport, provider, newRunId())).toBe(false);
  expect(await punctually(refused)).toBeLessThan(PROMPT_MS);
}

/** After how many milliseconds a run that is delivered from now on has been handled. */
async function handledAfterMs(transport: Transport, provider: string, handled: string[]): Promise<number> {
  const runId = newRunId();
  return until(async () => {
    await deliverOne(transport, provider, runId);
    return handled.includes(runId);
  }, 20_000);
}
