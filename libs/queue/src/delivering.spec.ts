import { describe, expect, it } from '@jest/globals';
import { deliverInChunks, laneCounts } from './delivering.js';
import type { Delivery } from './port.js';

/** Time that no piece needs. */
const plentyMs = 600_000;

const items = (count: number): Delivery[] =>
  Array.from({ length: count }, (_, n) => ({ lane: 'poll', provider: 'fal', runId: `${n}`, afterMs: 0 }));

describe('delivering', () => {
  it('answers for each item in order, over several chunks', async () => {
    const accepted = await deliverInChunks(items(1_201), plentyMs, async (chunk) =>
      chunk.map((item) => Number(item.runId) % 2 === 0),
    );
    expect(accepted).toHaveLength(1_201);
    expect(accepted.every((yes, index) => yes === (index % 2 === 0))).toBe(true);
  });

  it('stops at the first chunk that failed whole', async () => {
    let sent = 0;
    const accepted = await deliverInChunks(items(1_500), plentyMs, async (chunk) => {
      sent += 1;
      return chunk.map(() => sent === 1);
    });
    expect(sent).toBe(2);
    expect(accepted.filter(Boolean)).toHaveLength(500);
  });

  it('sends nothing more when the time is over', async () => {
    let sent = 0;
    const accepted = await deliverInChunks(items(1_500), -1, async (chunk) => {
      sent += 1;
      return chunk.map(() => true);
    });
    expect(sent).toBe(1);
    expect(accepted.filter(Boolean)).toHaveLength(500);
  });

  it('asks nobody about nothing', async () => {
    expect(await deliverInChunks([], plentyMs, () => Promise.reject(new Error('asked')))).toEqual([]);
  });

  it('leaves out a lane that cannot be counted', async () => {
    const counted = await laneCounts([
      {
        lane: 'poll',
        provider: null,
        queue: { getJobCounts: async () => ({ waiting: 3, active: 2, delayed: 1 }) },
      },
      { lane: 'assets', provider: null, queue: { getJobCounts: () => Promise.reject(new Error('away')) } },
    ]);
    expect(counted).toEqual([{ lane: 'poll', provider: null, waiting: 3, active: 2, delayed: 1 }]);
  });
});
