import type { Log } from '#observability';

/**
 * At the first SIGTERM or SIGINT takes the steps one after the other, all together at most `withinMs`,
 * and ends the process. A step that fails does not keep the next ones from being taken.
 */
export function stopInOrder(log: Log, withinMs: number, steps: readonly (() => Promise<void>)[]): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => {
      log.warn({ withinMs }, 'not everything could be closed in time');
      process.exit(1);
    }, withinMs).unref();
    for (const step of steps) {
      await step().catch((error: unknown) => log.warn({ error }, 'something could not be closed'));
    }
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
}
