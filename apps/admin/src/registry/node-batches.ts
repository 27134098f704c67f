import type { NodeRecord, Written } from '#persistence';
import { setImmediate as turn } from 'node:timers/promises';

/** Nodes in one statement: enough that a round trip does not count, few enough that one bad one is found soon. */
const batchNodes = 1000;
const batchVersions = 10_000;
/** After so many records the event loop gets a turn: the batch before is still being written. */
const turnRecords = 20;

type Put = (records: readonly NodeRecord[]) => Promise<Written>;

interface Batched<Place> {
  record: NodeRecord;
  place: Place;
}

/**
 * Writes nodes in batches, one behind the other, while the next one is being read. A record that the database
 * refuses is told with its place, and the others of its batch are written all the same.
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
    // In one statement each node can be written once.
    if (this.batch.has(record.node.id)) await this.flush();
    this.batch.set(record.node.id, { record, place });
    this.versions += record.versions.length;
    if (this.batch.size % turnRecords === 0) await turn();
    if (this.batch.size >= batchNodes || this.versions >= batchVersions) await this.flush();
  }

  /** Resolves when everything that was added is written. */
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
    // A failure is thrown by the next wait for it.
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

/** SQLSTATE classes 22 and 23, a value or a constraint, and 54, a limit: trying again changes nothing. */
const isRefusal = (error: unknown): error is Error & { code: string; detail?: string } =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(22|23|54)/.test(error.code);

const reasonOf = ({ message, detail }: Error & { detail?: string }): string =>
  detail === undefined ? message : `${message} (${detail})`;
