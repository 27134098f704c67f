import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../harness/index.js';

/** Waits for a condition and says after how many milliseconds it held. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs: number): Promise<number> {
  const startedAtMs = Date.now();
  await waitFor(holds, { withinMs, what: holds.toString(), everyMs: 10 });
  return Date.now() - startedAtMs;
}

/**
 * How long it took, in milliseconds, less what this process was late for a timer that ran beside it: for what is bounded by
 * a timer of the same process.
 */
export async function punctually(act: () => Promise<unknown>): Promise<number> {
  const timerMs = 500;
  const startedAtMs = performance.now();
  const sinceMs = () => performance.now() - startedAtMs;
  const late = pause(timerMs).then(() => sinceMs() - timerMs);
  await act();
  const tookMs = sinceMs();
  return tookMs - (await late);
}

/** Holds whoever awaits `opened` until `open` is called. */
export function closedGate(): { opened: Promise<void>; open(): void } {
  const doors: (() => void)[] = [];
  const opened = new Promise<void>((resolve) => doors.push(resolve));
  return {
    opened,
    open: () => {
      for (const door of doors) door();
    },
  };
}
