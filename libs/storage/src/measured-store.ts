import type { Metrics } from '#observability';
import { type AssetStore, StorageError } from './port.js';

/** The same store, whose calls are timed by their operation and their result. */
export function measuredStore(store: AssetStore, seconds: Metrics['storeSeconds']): AssetStore {
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
