import { waitFor } from '../harness/index.js';

/** Waits for a condition, and returns the milliseconds until it held. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs: number): Promise<number> {
  const startedAtMs = Date.now();
  await waitFor(holds, { withinMs, what: holds.toString(), everyMs: 10 });
  return Date.now() - startedAtMs;
}

/** Blocks everything that awaits `opened` until `open` is called. */
export function closedGate(): { opened: Promise<void>; open(): void } {
  const openers: (() => void)[] = [];
  const opened = new Promise<void>((resolve) => openers.push(resolve));
  return {
    opened,
    open: () => {
      for (const open of openers) open();
    },
  };
}
