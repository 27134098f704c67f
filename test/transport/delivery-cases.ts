import { expect, it } from '@jest/globals';
import type { JobResult } from '#queue';
import {
  type Bench,
  enqueueAll,
  enqueueOne,
  newRuns,
  newProvider,
  newRunId,
  type QueueApp,
} from './bench.js';
import { closedGate, until } from './until.js';

const done: JobResult = { kind: 'done' };

export function deliveryCases(bench: () => Bench): void {
  it('handles a delivered run once', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    const handled: string[] = [];
    app.consume(provider, async (runId) => {
      handled.push(runId);
      return done;
    });
    const [first, second] = [newRunId(), newRunId()];
    await until(() => enqueueOne(app, provider, first), 60_000);
    await until(() => handled.includes(first), 60_000);
    expect(await enqueueOne(app, provider, second)).toBe(true);
    await until(() => handled.includes(second), 60_000);
    expect(handled).toEqual([first, second]);
  });

  it.each([
    ['once', 1],
    ['twice if each is delayed once, whichever process took it,', 2],
  ])('handles each of 300 runs %s and leaves nothing behind', async (_often, times) => {
    const app = await bench().queues();
    const provider = newProvider();
    const handled = new Map<string, number>();
    await until(() => app.queues.healthy(), 60_000);
    await enqueueAll(app, newRuns(300, provider));
    app.consume(provider, async (runId) => {
      const count = (handled.get(runId) ?? 0) + 1;
      handled.set(runId, count);
      return count < times ? { kind: 'retry', delayMs: 100 } : done;
    });
    await until(() => handled.size === 300, 60_000);
    await emptied(app);
    expect([...handled.values()]).toEqual(Array(300).fill(times));
  });

  it('shares runs between two processes, and each is handled once', async () => {
    const [first, second] = await Promise.all([bench().queues(), bench().queues()]);
    const provider = newProvider();
    const handled: string[] = [];
    const by = { first: 0, second: 0 };
    // A process that starts to take runs late would find none left otherwise.
    const both = closedGate();
    const handle = (name: keyof typeof by) => async (runId: string) => {
      handled.push(runId);
      by[name] += 1;
      if (by.first > 0 && by.second > 0) both.open();
      await both.opened;
      return done;
    };
    await until(() => first.queues.healthy(), 60_000);
    first.consume(provider, handle('first'), 5);
    second.consume(provider, handle('second'), 5);
    const runs = newRuns(1_200, provider);
    await enqueueAll(first, runs);
    await until(() => handled.length >= runs.length, 60_000);
    await emptied(first);
    expect(handled.toSorted()).toEqual(runs.map(({ runId }) => runId).toSorted());
  });

  it('takes no run while it is paused, and finishes those in progress', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    const gate = closedGate();
    const begun: string[] = [];
    const ended: string[] = [];
    app.consume(provider, async (runId) => {
      begun.push(runId);
      await gate.opened;
      ended.push(runId);
      return done;
    });
    const [before, first, meanwhile, after] = [newRunId(), newRunId(), newRunId(), newRunId()];
    const taken: string[] = [];
    await until(() => enqueueOne(app, provider, before), 60_000);
    await until(() => begun.length === 1, 60_000);
    app.takeRuns(false);
    await until(() => enqueueOne(app, provider, first), 60_000);
    gate.open();
    await until(() => ended.includes(before), 60_000);
    // Another process takes runs, so it can take those that arrive meanwhile.
    const other = await bench().queues();
    other.consume(provider, async (runId) => {
      taken.push(runId);
      return done;
    });
    // A look that was under way may still take the first one.
    await until(() => [...begun, ...taken].includes(first), 60_000);
    await until(() => enqueueOne(app, provider, meanwhile), 60_000);
    await until(() => taken.includes(meanwhile), 60_000);
    await other.close();
    app.takeRuns(true);
    await until(() => enqueueOne(app, provider, after), 60_000);
    await until(() => ended.includes(after), 60_000);
    expect([...ended, ...taken].toSorted()).toEqual([before, first, meanwhile, after].toSorted());
  });

  it('redelivers a run, and not before the requested time', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    const afterMs = 100;
    let dueAtMs = 0;
    let earlyMs: number | undefined;
    app.consume(provider, async () => {
      if (dueAtMs > 0) {
        earlyMs = dueAtMs - Date.now();
        return done;
      }
      dueAtMs = Date.now() + afterMs;
      return { kind: 'retry', delayMs: afterMs };
    });
    await until(() => enqueueOne(app, provider, newRunId()), 60_000);
    await until(() => earlyMs !== undefined, 60_000);
    expect(earlyMs).toBeLessThanOrEqual(5);
  });

  it('brings a delayed run forward, and ignores a run that is not delayed', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    const runId = newRunId();
    const handled: string[] = [];
    app.consume(provider, async (id) => {
      handled.push(id);
      return done;
    });
    await until(() => enqueueOne(app, provider, runId, 3_600_000), 60_000);
    await app.runNow(newRunId());
    await app.runNow(runId);
    await until(() => handled.includes(runId), 60_000);
    await app.runNow(runId);
    expect(handled).toEqual([runId]);
  });

  it('runs a job now while handlers put it back, without losing or doubling it', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    let running = 0;
    let doubled = 0;
    let times = 0;
    app.consume(provider, async () => {
      running += 1;
      if (running > 1) doubled += 1;
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      times += 1;
      return times < 100 ? { kind: 'retry', delayMs: 30_000 } : done;
    });
    const runId = newRunId();
    await until(() => enqueueOne(app, provider, runId), 60_000);
    await until(async () => {
      await app.runNow(runId);
      return times >= 100;
    }, 60_000);
    expect(doubled).toBe(0);
  });

  it('handles a run once if it is enqueued again while it waits or runs', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    const runId = newRunId();
    let handled = 0;
    const gate = closedGate();
    await until(() => enqueueOne(app, provider, runId), 60_000);
    expect(await enqueueOne(app, provider, runId)).toBe(true);
    app.consume(provider, async () => {
      handled += 1;
      await gate.opened;
      return done;
    });
    await until(() => handled === 1, 60_000);
    expect(await enqueueOne(app, provider, runId)).toBe(true);
    gate.open();
    await emptied(app);
    expect(handled).toBe(1);

    // After it is done, the same run may be enqueued again.
    expect(await enqueueOne(app, provider, runId)).toBe(true);
    await until(() => handled === 2, 60_000);
  });

  it('drops the job of a handler that throws, so that the run can be enqueued again', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    const runId = newRunId();
    let handled = 0;
    app.consume(provider, async () => {
      handled += 1;
      if (handled === 1) throw new Error('our own fault');
      return done;
    });
    await until(() => enqueueOne(app, provider, runId), 60_000);
    await until(() => handled === 1, 60_000);
    await until(async () => {
      await enqueueOne(app, provider, runId);
      return handled >= 2;
    }, 60_000);
    expect(bench().log.lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
  });

  it('handles one provider’s run while another provider’s handlers are all busy', async () => {
    const app = await bench().queues();
    const [stuck, other] = [newProvider(), newProvider()];
    const gate = closedGate();
    let stuckHandled = 0;
    let otherHandled = 0;
    const hold = async () => {
      stuckHandled += 1;
      await gate.opened;
      return done;
    };
    app.consume(stuck, hold, 2);
    app.consume(other, async () => {
      otherHandled += 1;
      return done;
    });
    await until(() => app.queues.healthy(), 60_000);
    await enqueueAll(app, newRuns(20, stuck));
    await until(() => stuckHandled === 2, 60_000);
    await enqueueAll(app, newRuns(1, other));
    await until(() => otherHandled === 1, 60_000);
    expect(stuckHandled).toBe(2);
    gate.open();
    await until(() => stuckHandled === 20, 60_000);
  });

  it('delivers again after everything on the server was deleted', async () => {
    const app = await bench().queues();
    const provider = newProvider();
    const runIds = Array.from({ length: 20 }, newRunId);
    const handled = new Set<string>();
    await until(() => app.queues.healthy(), 60_000);
    const items = runIds.map((runId, index) => ({
      queue: 'webhooks' as const,
      provider,
      runId,
      delayMs: index % 2 === 0 ? 0 : 60_000,
    }));
    await enqueueAll(app, items);
    await bench().wipe();
    app.consume(provider, async (runId) => {
      handled.add(runId);
      return done;
    });
    await enqueueAll(
      app,
      items.map((item) => ({ ...item, delayMs: 0 })),
    );
    await until(() => handled.size === 20, 60_000);
  });
}

const emptied = (app: QueueApp) => until(async () => (await app.left()) === 0, 60_000);
