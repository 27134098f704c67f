import type { Metrics } from '#observability';
import { type AssetStore, StorageError } from './port.js';

/** Wraps a store so that its calls are timed by operation and result. */
export function measuredStore(store: AssetStore, seconds: Metrics['storeSeconds']): AssetStore {
  const timed = async <T>(op: string, call: () => Promise<T>): Promise<T> => {
    const ended = seconds.startTimer({ op });
    try {
      const answer = await call();
      ended({ result: 'ok' });
      return answer;
    } catch (error) {
      // An aborted signal or a failed body is not the store's failure.
      ended({ result: error instanceof StorageError ? error.failure : 'cut_short' });
      throw error;
    }
  };
  return {
    putMemoryBytes: store.putMemoryBytes,
    put: (key, body, facts) => timed('put', () => store.put(key, body, facts)),
    get: (key, signal) => timed('get', () => store.get(key, signal)),
    delete: (keys, signal) => timed('delete', () => store.delete(keys, signal)),
    list: (folder, signal) => store.list(folder, signal),
    openSigned: (claim, when) => timed('get', () => store.openSigned(claim, when)),
    sign: (key, life) => store.sign(key, life),
    abortStale: (startedBeforeMs, signal) => timed('abort', () => store.abortStale(startedBeforeMs, signal)),
    close: () => store.close(),
  };
}
