import type { Queue } from 'bullmq';
import type { Delivery, LaneCounts, LaneKind } from './port.js';

const CHUNK = 500;

/**
 * Sends a long list piece by piece, and stops at the first piece that failed whole or when the time is
 * over: what was not sent is reported as not accepted.
 */
export async function deliverInChunks(
  items: readonly Delivery[],
  withinMs: number,
  send: (chunk: readonly Delivery[]) => Promise<boolean[]>,
): Promise<boolean[]> {
  const startedAtMs = Date.now();
  const accepted: boolean[] = [];
  for (let at = 0; at < items.length; at += CHUNK) {
    if (at > 0 && Date.now() - startedAtMs > withinMs) break;
    const results = await send(items.slice(at, at + CHUNK));
    accepted.push(...results);
    if (!results.includes(true)) break;
  }
  return items.map((_item, index) => accepted[index] ?? false);
}

/** Waiting, active and delayed jobs of each lane; a lane that cannot be counted now is left out. */
export async function laneCounts(
  lanes: readonly { queue: Pick<Queue, 'getJobCounts'>; lane: LaneKind; provider: string | null }[],
): Promise<LaneCounts[]> {
  const counted = await Promise.all(
    lanes.map(({ queue, lane, provider }) =>
      queue.getJobCounts('waiting', 'active', 'delayed').then(
        (counts) => [
          {
            lane,
            provider,
            waiting: counts['waiting'] ?? 0,
            active: counts['active'] ?? 0,
            delayed: counts['delayed'] ?? 0,
          },
        ],
        () => [],
      ),
    ),
  );
  return counted.flat();
}
