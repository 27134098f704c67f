import { expect, it } from '@jest/globals';
import { type Bench, consume, deliverOne, impatient, newProvider, newRunId } from './bench.js';
import { until } from './until.js';

const PROMPT_MS = 600;

export function outageCases(bench: () => Bench): void {
  it('refuses promptly while the server is down, and consumes within 5 s of its return', async () => {
    const transport = await bench().transport(impatient);
    const provider = newProvider();
    const handled: string[] = [];
    consume(transport, provider, async (runId) => {
      handled.push(runId);
      return { kind: 'done' };
    });
    const [before, kept, after] = [newRunId(), newRunId(), newRunId()];
    await until(() => deliverOne(transport, provider, before), 15_000);
    await until(() => handled.includes(before), 15_000);
    expect(await deliverOne(transport, provider, kept, 1_500)).toBe(true);

    await bench().server.kill();
    for (let n = 0; n < 5; n += 1) await refusedPromptly();
    await transport.hasten('dispatch', provider, kept);
    await transport.announce(kept);
    expect(await transport.healthy()).toBe(false);

    await bench().server.restart();
    const tookMs = await until(async () => {
      await deliverOne(transport, provider, after);
      return handled.includes(after) && handled.includes(kept);
    }, 5_000);
    process.stdout.write(`consuming ${tookMs} ms after the server’s return\n`);
    expect(bench().log.lines.filter((line) => / is away/.test(line))).toHaveLength(1);
    await until(() => bench().log.lines.filter((line) => / is back/.test(line)).length === 1, 3_000);

    async function refusedPromptly() {
      const startedAtMs = Date.now();
      expect(await deliverOne(transport, provider, newRunId())).toBe(false);
      expect(Date.now() - startedAtMs).toBeLessThan(PROMPT_MS);
    }
  });

  it('survives a second outage that begins during the recovery from the first', async () => {
    const transport = await bench().transport(impatient);
    const provider = newProvider();
    const handled: string[] = [];
    consume(transport, provider, async (runId) => {
      handled.push(runId);
      return { kind: 'done' };
    });
    for (let round = 0; round < 3; round += 1) {
      await bench().server.kill();
      await bench().server.restart();
    }
    const runId = newRunId();
    await until(async () => {
      await deliverOne(transport, provider, runId);
      return handled.includes(runId);
    }, 5_000);
  });

  it('starts without the server, and works when it comes', async () => {
    await bench().server.kill();
    const provider = newProvider();
    const startedAtMs = Date.now();
    const [producer, consumer] = await Promise.all([
      bench().transport(impatient),
      bench().transport(impatient),
    ]);
    expect(Date.now() - startedAtMs).toBeLessThan(2_000);
    const handled: string[] = [];
    consume(consumer, provider, async (runId) => {
      handled.push(runId);
      return { kind: 'done' };
    });
    expect(await deliverOne(producer, provider, newRunId())).toBe(false);
    expect(await producer.counts()).toEqual([]);
    await bench().server.restart();
    const runId = newRunId();
    await until(async () => {
      await deliverOne(producer, provider, runId);
      return handled.includes(runId);
    }, 5_000);
  });

  it('closes in bounded time while the server is down', async () => {
    const transport = await bench().transport(impatient);
    const consumer = consume(transport, newProvider(), async () => ({ kind: 'done' }));
    transport.listen(newRunId(), () => {});
    await until(() => transport.healthy(), 5_000);
    await bench().server.kill();
    try {
      const startedAtMs = Date.now();
      await consumer.close(500);
      await transport.close();
      expect(Date.now() - startedAtMs).toBeLessThan(5_000);
    } finally {
      await bench().server.restart();
    }
  });

  it('refuses promptly while the server is frozen, closes in bounded time, and recovers', async () => {
    const [transport, leaver] = await Promise.all([
      bench().transport(impatient),
      bench().transport(impatient),
    ]);
    const provider = newProvider();
    const handled: string[] = [];
    consume(transport, provider, async (runId) => {
      handled.push(runId);
      return { kind: 'done' };
    });
    const leaving = consume(leaver, newProvider(), async () => ({ kind: 'done' }));
    await until(() => transport.healthy(), 5_000);
    bench().server.freeze();
    try {
      for (let n = 0; n < 3; n += 1) {
        const startedAtMs = Date.now();
        expect(await deliverOne(transport, provider, newRunId())).toBe(false);
        expect(Date.now() - startedAtMs).toBeLessThan(PROMPT_MS);
      }
      expect(await transport.healthy()).toBe(false);
      const startedAtMs = Date.now();
      await leaving.close(500);
      await leaver.close();
      expect(Date.now() - startedAtMs).toBeLessThan(5_000);
    } finally {
      bench().server.thaw();
    }
    const runId = newRunId();
    await until(async () => {
      await deliverOne(transport, provider, runId);
      return handled.includes(runId);
    }, 5_000);
  });
}
