import type { Metrics } from '#observability';
import { type AssetStore, StorageError } from './port.js';

type Seconds = Metrics['storeSeconds'];

/** The same store, whose calls are timed by what they were and how they ended. */
export function measuredStore(store: AssetStore, seconds: Seconds): AssetStore {
  const timed = async <T>(op: string, call: () => Promise<T>): Promise<T> => {
    const ended = seconds.startTimer({ op });
    try {
      const answer = await call();
      ended({ result: 'ok' });
      return answer;
    } catch (error) {
      // Neither a signal that ended nor a body that failed is the store's fault.
      ended({ result: error instanceof StorageError ? error.failure : 'cut_short' });
      throw error;
    }
  };
  return {
    kind: store.kind,
    putMemoryBytes: store.putMemoryBytes,
    put: (key, body, facts) => timed('put', () => store.put(key, body, facts)),
    get: (key, signal) => timed('get', () => store.get(key, signal)),
    delete: (keys, signal) => timed('delete', () => store.delete(keys, signal)),
    list: (prefix, signal) => store.list(prefix, signal),
    openSigned: (claim, when) => timed('get', () => store.openSigned(claim, when)),
    sign: (key, life) => store.sign(key, life),
    abortStale: (startedBeforeMs, signal) => timed('abort', () => store.abortStale(startedBeforeMs, signal)),
    healthy: (signal) => store.healthy(signal),
    close: () => store.close(),
  };
}
