import { expect, it } from '@jest/globals';
import type { Transport, Verdict } from '#queue';
import {
  type Bench,
  consume,
  deliverAll,
  deliverOne,
  newDeliveries,
  newProvider,
  newRunId,
} from './bench.js';
import { closedGate, until } from './until.js';

const done: Verdict = { kind: 'done' };

export function deliveryCases(bench: () => Bench): void {
  it('handles a delivered run once', async () => {
    const transport = await bench().transport();
    const provider = newProvider();
    const handled: string[] = [];
    consume(transport, provider, async (runId) => {
      handled.push(runId);
      return done;
    });
    const [first, second] = [newRunId(), newRunId()];
    await until(() => deliverOne(transport, provider, first), 60_000);
    await until(() => handled.includes(first), 60_000);
    expect(await deliverOne(transport, provider, second)).toBe(true);
    await until(() => handled.includes(second), 60_000);
    expect(handled).toEqual([first, second]);
  });

  it('handles each of 300 runs once and leaves nothing behind', async () => {
    const transport = await bench().transport();
    const provider = newProvider();
    const handled = new Map<string, number>();
    await until(() => transport.healthy(), 60_000);
    await deliverAll(transport, newDeliveries(300, provider));
    consume(transport, provider, async (runId) => {
      handled.set(runId, (handled.get(runId) ?? 0) + 1);
      return done;
    });
    await until(() => handled.size === 300, 60_000);
    expect([...handled.values()].every((times) => times === 1)).toBe(true);
    await emptied(transport);
  });

  it('delivers again, and not before the time asked for', async () => {
    const transport = await bench().transport();
    const provider = newProvider();
    const afterMs = 100;
    let dueAtMs = 0;
    let earlyMs: number | undefined;
    consume(transport, provider, async () => {
      if (dueAtMs > 0) {
        earlyMs = dueAtMs - Date.now();
        return done;
      }
      dueAtMs = Date.now() + afterMs;
      return { kind: 'again', afterMs };
    });
    await until(() => deliverOne(transport, provider, newRunId()), 60_000);
    await until(() => earlyMs !== undefined, 60_000);
    expect(earlyMs).toBeLessThanOrEqual(5);
  });

  it('brings a delayed run forward, and does nothing to one that is not delayed', async () => {
    const transport = await bench().transport();
    const provider = newProvider();
    const runId = newRunId();
    const handled: string[] = [];
    consume(transport, provider, async (id) => {
      handled.push(id);
      return done;
    });
    await until(() => deliverOne(transport, provider, runId, 3_600_000), 60_000);
    await transport.hasten('dispatch', provider, newRunId());
    await transport.hasten('dispatch', provider, runId);
    await until(() => handled.includes(runId), 60_000);
    await transport.hasten('dispatch', provider, runId);
    expect(handled).toEqual([runId]);
  });

  it('hastens while handlers put the same job back, without losing or doubling it', async () => {
    const transport = await bench().transport();
    const provider = newProvider();
    let running = 0;
    let doubled = 0;
    let times = 0;
    consume(transport, provider, async () => {
      running += 1;
      if (running > 1) doubled += 1;
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      times += 1;
      return times < 100 ? { kind: 'again', afterMs: 30_000 } : done;
    });
    const runId = newRunId();
    await until(() => deliverOne(transport, provider, runId), 60_000);
    await until(async () => {
      await transport.hasten('dispatch', provider, runId);
      return times >= 100;
    }, 60_000);
    expect(doubled).toBe(0);
  });

  it('handles a run once when it is delivered twice while it waits or runs', async () => {
    const transport = await bench().transport();
    const provider = newProvider();
    const runId = newRunId();
    let handled = 0;
    const gate = closedGate();
    await until(() => deliverOne(transport, provider, runId), 60_000);
    expect(await deliverOne(transport, provider, runId)).toBe(true);
    consume(transport, provider, async () => {
      handled += 1;
      await gate.opened;
      return done;
    });
    await until(() => handled === 1, 60_000);
    expect(await deliverOne(transport, provider, runId)).toBe(true);
    gate.open();
    await emptied(transport);
    expect(handled).toBe(1);

    // Once it is done, the same run may come again.
    expect(await deliverOne(transport, provider, runId)).toBe(true);
    await until(() => handled === 2, 60_000);
  });

  it('drops the job of a handler that throws, so that the run can be delivered again', async () => {
    const transport = await bench().transport();
    const provider = newProvider();
    const runId = newRunId();
    let handled = 0;
    consume(transport, provider, async () => {
      handled += 1;
      if (handled === 1) throw new Error('our own fault');
      return done;
    });
    await until(() => deliverOne(transport, provider, runId), 60_000);
    await until(() => handled === 1, 60_000);
    await until(async () => {
      await deliverOne(transport, provider, runId);
      return handled >= 2;
    }, 60_000);
    expect(bench().log.lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
  });

  it('handles one provider’s run while another’s handlers are all busy', async () => {
    const transport = await bench().transport();
    const [stuck, other] = [newProvider(), newProvider()];
    const gate = closedGate();
    let stuckHandled = 0;
    let otherHandled = 0;
    const hold = async () => {
      stuckHandled += 1;
      await gate.opened;
      return done;
    };
    consume(transport, stuck, hold, 2);
    consume(transport, other, async () => {
      otherHandled += 1;
      return done;
    });
    await until(() => transport.healthy(), 60_000);
    await deliverAll(transport, newDeliveries(20, stuck));
    await until(() => stuckHandled === 2, 60_000);
    await deliverAll(transport, newDeliveries(1, other));
    await until(() => otherHandled === 1, 60_000);
    expect(stuckHandled).toBe(2);
    gate.open();
    await until(() => stuckHandled === 20, 60_000);
  });

  it('delivers again after everything in the server was deleted', async () => {
    const transport = await bench().transport();
    const provider = newProvider();
    const runIds = Array.from({ length: 20 }, newRunId);
    const handled = new Set<string>();
    await until(() => transport.healthy(), 60_000);
    const items = runIds.map((runId, index) => ({
      lane: 'dispatch' as const,
      provider,
      runId,
      afterMs: index % 2 === 0 ? 0 : 60_000,
    }));
    await deliverAll(transport, items);
    await bench().wipe();
    consume(transport, provider, async (runId) => {
      handled.add(runId);
      return done;
    });
    await deliverAll(
      transport,
      items.map((item) => ({ ...item, afterMs: 0 })),
    );
    await until(() => handled.size === 20, 60_000);
  });
}

const emptied = (transport: Transport) =>
  until(async () => {
    const counts = await transport.counts();
    return counts.length > 0 && counts.every((lane) => lane.waiting + lane.active + lane.delayed === 0);
  }, 60_000);
