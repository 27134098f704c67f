import type { DueWebhook, WebhookRepository } from '#persistence';
import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import type { WorkerSettings } from '../settings.js';
import type { WebhookCalls } from './webhook-calls.js';
import { nextTryMs, WebhooksProcessor } from './webhooks.processor.js';

it('makes eight attempts within 24 hours, each after a longer pause', () => {
  const pauses: number[] = [];
  for (let failed = 1; ; failed += 1) {
    const pauseMs = nextTryMs(failed);
    if (pauseMs === null) break;
    pauses.push(pauseMs);
  }
  expect(pauses.length + 1).toBe(8);
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
  const hours = pauses.reduce((sum, pauseMs) => sum + pauseMs, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(20);
  expect(hours).toBeLessThan(24);
});

/** A worker whose database is a list, and a receiver that answers at the end of an event loop turn. */
function worker() {
  const due = new Map<string, DueWebhook>();
  const line: DueWebhook[] = [];
  const counts = { begun: 0, putOff: 0, taken: 0, reads: 0, atOnce: 0, most: 0 };
  const delivered: string[] = [];
  const webhooks = {
    begin: async (runId: string) => {
      counts.begun += 1;
      return due.get(runId) ?? null;
    },
    waitForSlot: async (runId: string) => {
      counts.putOff += 1;
      await turn();
      const webhook = due.get(runId);
      if (webhook) line.push(webhook);
    },
    takeWaitingWebhook: async () => {
      counts.reads += 1;
      // The read reflects the moment when it was sent.
      const next = line.shift() ?? null;
      await turn();
      if (next) counts.taken += 1;
      return next;
    },
    delivered: async ({ runId }: DueWebhook) => void delivered.push(runId),
  };
  const calls = {
    callReceiver: async () => {
      counts.atOnce += 1;
      counts.most = Math.max(counts.most, counts.atOnce);
      await turn();
      counts.atOnce -= 1;
      return {};
    },
  };
  class Exposed extends WebhooksProcessor {
    protected override get isTaking() {
      return true;
    }
    serveRun(runId: string): Promise<unknown> {
      return this.handle({ runId, provider: 'fal', mayHaveCrashed: false }, new AbortController().signal);
    }
  }
  const processor = new Exposed(
    webhooks as unknown as WebhookRepository,
    calls as unknown as WebhookCalls,
    { WORKER_CLOSE_MS: 1_000 } as WorkerSettings,
  );
  const add = (runId: string) => {
    due.set(runId, { runId, workspaceId: 'w', receiver: 'https://one', tries: 0 } as DueWebhook);
    return processor.serveRun(runId);
  };
  return { add, counts, delivered };
}

describe('webhooks to one receiver', () => {
  it('are sent in at most ten concurrent calls, and each that waits is written once', async () => {
    const { add, counts, delivered } = worker();
    const runIds = Array.from({ length: 30 }, (_each, nth) => `run-${nth}`);
    await Promise.all(runIds.map(add));
    expect(delivered.toSorted()).toEqual(runIds.toSorted());
    expect(counts.most).toBe(10);
    expect(counts.putOff).toBe(20);
    expect(counts.taken).toBe(20);
  });

  it('are not left behind if they begin to wait during the last read of the line', async () => {
    const { add, delivered } = worker();
    const all: Promise<unknown>[] = [];
    for (let nth = 0; nth < 200; nth += 1) {
      all.push(add(`run-${nth}`));
      if (nth % 3 === 0) await turn();
    }
    await Promise.all(all);
    expect(delivered).toHaveLength(200);
  });
});
