import type { Expected } from './evaluated.js';
import type { KnownLoad } from './known-load.js';

export interface Known {
  load: KnownLoad;
  /** Milliseconds since 1970: the death of the worker, the begin and the end of the counted load. */
  killedMs: number;
  beganMs: number;
  endedMs: number;
  /** Bytes of the stored files at the begin and the end. */
  storedBytes: readonly [number, number];
  /** CPU seconds of each process during the counted load, by its id. */
  cpuSeconds: ReadonlyMap<number, number>;
}

export interface Source {
  /** Where the other count comes from, for the table of the coverage. */
  from: string;
  /** When the panel is evaluated: over the counted load, since the death of a worker, or while much is held. */
  over: 'load' | 'loss' | 'hold';
  /** For each query of the panel; a single one counts for all. */
  expected: (known: Known) => Promise<Expected[]> | Expected[];
}
