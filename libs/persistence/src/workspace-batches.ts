import { RouterError } from '#errors';

/** What is written under the lock of a workspace's row, and how many bytes travel with it. */
interface Written {
  workspaceId: string;
  bytes: number;
}

/** What came of each item, or why it alone failed; null where its workspace is locked, when the call does not wait. */
export type BatchResults<Result> = (Result | Error | null)[];

interface BatchOptions<Item, Result> {
  send: (items: Item[], waits: boolean) => Promise<BatchResults<Result>>;
  /** How long in milliseconds an item stays in line while the database is away. */
  patienceMs: number;
}

interface Waiting<Item, Result> {
  item: Item;
  sinceMs: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Bounds of one batch, so that a slow or large neighbour cannot hold the workspace row for long. */
const batchRows = 50;
const batchBytes = 4 * 1024 * 1024;

/**
 * Carries what is written under locks of workspaces' rows. One call is under way for all workspaces; what comes meanwhile
 * travels together in the next, so a busy process commits once a batch and not once a run. A workspace whose row is
 * locked when its turn comes gets a line of its own, which waits for that row: it holds up nobody else.
 */
export class WorkspaceBatches<Item extends Written, Result> {
  private readonly shared: Waiting<Item, Result>[] = [];
  private readonly own = new Map<string, Waiting<Item, Result>[]>();
  private isSharing = false;

  constructor(private readonly options: BatchOptions<Item, Result>) {}

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const line = this.own.get(item.workspaceId) ?? this.shared;
      line.push({ item, sinceMs: performance.now(), resolve, reject });
      if (line === this.shared && !this.isSharing) void this.drainShared();
    });
  }

  private async drainShared(): Promise<void> {
    this.isSharing = true;
    // Who has just been answered may come again before this goes on.
    while (this.shared.length > 0) await this.drain(this.shared, false);
    this.isSharing = false;
  }

  /** With those of the same workspace that have arrived meanwhile. */
  private joinOwn(workspaceId: string, locked: Waiting<Item, Result>[]): void {
    const isHere = ({ item }: Waiting<Item, Result>) => item.workspaceId === workspaceId;
    const here = [...locked, ...this.shared.filter(isHere)];
    this.shared.splice(0, Infinity, ...this.shared.filter((each) => !isHere(each)));
    const line = this.own.get(workspaceId);
    if (line) line.push(...here);
    else void this.drainOwn(workspaceId, here);
  }

  private async drainOwn(workspaceId: string, line: Waiting<Item, Result>[]): Promise<void> {
    this.own.set(workspaceId, line);
    while (line.length > 0) await this.drain(line, true);
    this.own.delete(workspaceId);
  }

  private async drain(line: Waiting<Item, Result>[], waits: boolean): Promise<void> {
    while (line.length > 0) {
      const batch = takeBatch(line);
      try {
        await this.settle(batch, waits);
      } catch (error) {
        if (error instanceof RouterError) {
          for (const each of batch) each.reject(error);
          this.giveUp(line, error);
        } else {
          // Something is wrong with one of them: each alone, so that it fails alone.
          await Promise.all(batch.map((each) => this.settle([each], waits).catch(each.reject)));
        }
      }
    }
  }

  /** Those in line would fail the same way, each batch after a time-out of its own: who has waited long enough fails now. */
  private giveUp(line: Waiting<Item, Result>[], error: RouterError): void {
    const unsent = new RouterError(error.bucket, error.publicDetail, { cause: error });
    const lastMs = performance.now() - this.options.patienceMs;
    const stays = ({ sinceMs }: Waiting<Item, Result>) => sinceMs > lastMs;
    for (const each of line.splice(0, Infinity, ...line.filter(stays))) if (!stays(each)) each.reject(unsent);
  }

  private async settle(batch: Waiting<Item, Result>[], waits: boolean): Promise<void> {
    const results = await this.options.send(
      batch.map(({ item }) => item),
      waits,
    );
    const locked = batch.filter((_each, nth) => results[nth] === null);
    // It was deleted while its credential was still known to a gateway.
    if (waits && locked.length > 0)
      throw new RouterError('unauthorized', 'The request carries no usable credential.', {
        internal: 'a workspace is not there',
      });
    for (const id of new Set(locked.map(({ item }) => item.workspaceId))) {
      this.joinOwn(
        id,
        locked.filter(({ item }) => item.workspaceId === id),
      );
    }
    for (const [nth, each] of batch.entries()) {
      const result = results[nth] as Result | Error | null;
      if (result instanceof Error) each.reject(result);
      else if (result !== null) each.resolve(result);
    }
  }
}

/**
 * Bodies one after the other, and where each of them is, counted from one. As an array they would be sent as text, of twice
 * the size.
 */
export function joinedBodies(bodies: (Buffer | null)[]) {
  let bodyFrom = 1;
  const places = bodies.map((body) => {
    if (body === null) return {};
    const place = { bodyFrom, bodyBytes: body.length };
    bodyFrom += body.length;
    return place;
  });
  return { places, joined: Buffer.concat(bodies.filter((body) => body !== null)) };
}

/** Takes the head of the line. */
function takeBatch<Item extends Written, Result>(line: Waiting<Item, Result>[]): Waiting<Item, Result>[] {
  let rows = 0;
  let bytes = 0;
  for (const { item } of line) {
    bytes += item.bytes;
    if (rows === batchRows || (rows > 0 && bytes > batchBytes)) break;
    rows += 1;
  }
  return line.splice(0, rows);
}
