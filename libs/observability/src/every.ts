interface Rounds {
  /** Called with the error of a failed round. Further rounds follow all the same. */
  onError: (error: unknown) => void;
  /** Whether the first round starts now rather than after `ms`. */
  immediately?: boolean;
}

export interface PeriodicWork {
  /** Prevents further rounds, and resolves when the current one has ended. */
  stop(): Promise<void>;
}

/**
 * Repeats `work` until it is stopped, with a pause of `ms` between the end of one round and the start of the
 * next, so that rounds never overlap. The timer does not keep the process alive. `signal` aborts when `stop`
 * is called.
 */
export function every(
  ms: number,
  work: (signal: AbortSignal) => unknown,
  { onError, immediately = false }: Rounds,
): PeriodicWork {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round = Promise.resolve();
  const run = async () => {
    try {
      await work(stopping.signal);
    } catch (error) {
      onError(error);
    }
    schedule();
  };
  const start = () => {
    round = run();
  };
  const schedule = () => {
    if (!stopping.signal.aborted) timer = setTimeout(start, ms).unref();
  };
  if (immediately) start();
  else schedule();
  return {
    stop: () => {
      stopping.abort();
      clearTimeout(timer);
      return round;
    },
  };
}
