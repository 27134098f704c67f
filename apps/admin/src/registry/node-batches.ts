import type { NodeRecord, Written } from '#persistence';
import { setImmediate as turn } from 'node:timers/promises';

/** Maximum nodes in one statement: enough to amortise a round trip, few enough to find a bad node. */
const batchNodes = 1000;
const batchVersions = 10_000;
/** After this many records the event loop gets a turn, because the previous batch is still being written. */
const turnRecords = 20;

type Put = (records: readonly NodeRecord[]) => Promise<Written>;

interface Batched<Place> {
  record: NodeRecord;
  place: Place;
}

/**
 * Writes nodes in batches, one after the other, while the next batch is being read. A record that the
 * database rejects is reported with its place, and the rest of its batch is still written.
 */
export class NodeBatches<Place> {
  readonly written: Written = { created: 0, changed: 0 };
  private batch = new Map<string, Batched<Place>>();
  private versions = 0;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly put: Put,
    private readonly refused: (place: Place, reason: string) => void,
  ) {}

  async add(record: NodeRecord, place: Place): Promise<void> {
    // A statement can write each node only once.
    if (this.batch.has(record.node.id)) await this.flush();
    this.batch.set(record.node.id, { record, place });
    this.versions += record.versions.length;
    if (this.batch.size % turnRecords === 0) await turn();
    if (this.batch.size >= batchNodes || this.versions >= batchVersions) await this.flush();
  }

  /** Resolves when all added records are written. */
  async end(): Promise<Written> {
    if (this.batch.size > 0) await this.flush();
    await this.writing;
    return this.written;
  }

  private async flush(): Promise<void> {
    const batch = [...this.batch.values()];
    this.batch = new Map();
    this.versions = 0;
    await this.writing;
    this.writing = this.write(batch);
    // A failure is thrown where the batch is awaited next.
    this.writing.catch(() => {});
  }

  private async write(batch: readonly Batched<Place>[]): Promise<void> {
    try {
      const { created, changed } = await this.put(batch.map(({ record }) => record));
      this.written.created += created;
      this.written.changed += changed;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [only] = batch;
      if (batch.length === 1 && only) return this.refused(only.place, reasonOf(error));
      const middle = Math.ceil(batch.length / 2);
      await this.write(batch.slice(0, middle));
      await this.write(batch.slice(middle));
    }
  }
}

/** SQLSTATE classes 22 (data), 23 (constraint) and 54 (limit): retrying cannot help. */
const isRefusal = (error: unknown): error is Error & { code: string; detail?: string } =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(22|23|54)/.test(error.code);

const reasonOf = ({ message, detail }: Error & { detail?: string }): string =>
  detail === undefined ? message : `${message} (${detail})`;
