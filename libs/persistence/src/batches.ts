import { RouterError } from '#errors';

/**
 * The result of each item, or why it alone failed; undefined where a row that it needs is locked, when the statement does
 * not wait.
 */
export type BatchResults<Result> = (Result | Error | undefined)[];

type Send<Item, Result> = (items: readonly Item[], waits: boolean) => Promise<BatchResults<Result>>;

/** For items that are written under the lock of a row, such as that of their workspace. */
interface LockedRows<Item> {
  rowOf: (item: Item) => string;
  bytesOf: (item: Item) => number;
  /** How long in milliseconds an item stays in line while the database is away. */
  patienceMs: number;
}

interface Waiting<Item, Result> {
  item: Item;
  sinceMs: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Bounds of one batch, so that a crowd or a large neighbour cannot hold a connection or a row for long. */
const maxItems = 50;
const maxBytes = 4 * 1024 * 1024;

/**
 * Sends what is requested at about the same time in one statement: a busy process makes fewer statements and commits. A
 * statement that holds rows must not wait for another, so it passes over those that are locked, and a second one waits for
 * them and holds up nobody else.
 *
 * Items without `lockedRows` travel with those of the same turn of the event loop, and a locked one goes alone. With them
 * one call is under way for all rows and what comes meanwhile travels in the next; the items of a locked row get a line
 * of their own, until that is empty.
 */
export class Batches<Item, Result> {
  private readonly shared: Waiting<Item, Result>[] = [];
  private readonly own = new Map<string, Waiting<Item, Result>[]>();
  private isBegun = false;

  constructor(
    private readonly send: Send<Item, Result>,
    private readonly lockedRows?: LockedRows<Item>,
  ) {}

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const line = (this.lockedRows && this.own.get(this.lockedRows.rowOf(item))) ?? this.shared;
      line.push({ item, sinceMs: performance.now(), resolve, reject });
      if (line === this.shared && !this.isBegun) this.begin();
    });
  }

  private begin(): void {
    this.isBegun = true;
    if (this.lockedRows) void this.drain(this.shared, false, () => (this.isBegun = false));
    else
      setImmediate(() => {
        this.isBegun = false;
        while (this.shared.length > 0) {
          const batch = this.takeBatch(this.shared);
          void this.settle(batch, batch.length === 1);
        }
      });
  }

  private async drain(line: Waiting<Item, Result>[], waits: boolean, end: () => void): Promise<void> {
    while (line.length > 0) {
      const error = await this.settle(this.takeBatch(line), waits);
      if (error) this.giveUp(line, error);
    }
    end();
  }

  /** Sends a batch, and settles its items. Returns why the database could not be asked. */
  private async settle(batch: Waiting<Item, Result>[], waits: boolean): Promise<RouterError | undefined> {
    try {
      const items = batch.map(({ item }) => item);
      const results = await this.send(items, waits);
      const locked: Waiting<Item, Result>[] = [];
      for (const [nth, each] of batch.entries()) {
        const result = results[nth];
        if (result instanceof Error) each.reject(result);
        else if (result !== undefined) each.resolve(result);
        else if (waits) each.reject(new Error('a statement that waits gave an item no result'));
        else locked.push(each);
      }
      this.waitForRows(locked);
    } catch (error) {
      if (error instanceof RouterError || batch.length === 1) for (const each of batch) each.reject(error);
      // Something is wrong with one of them: each alone, so that it fails alone.
      else await Promise.all(batch.map((each) => this.settle([each], waits || !this.lockedRows)));
      if (error instanceof RouterError) return error;
    }
    return undefined;
  }

  private waitForRows(locked: Waiting<Item, Result>[]): void {
    if (!this.lockedRows) {
      for (const each of locked) void this.settle([each], true);
      return;
    }
    const { rowOf } = this.lockedRows;
    for (const row of new Set(locked.map(({ item }) => rowOf(item)))) {
      const isOfRow = ({ item }: Waiting<Item, Result>) => rowOf(item) === row;
      // With those of the same row that have arrived meanwhile.
      const all = [...locked.filter(isOfRow), ...this.shared.filter(isOfRow)];
      this.shared.splice(0, Infinity, ...this.shared.filter((each) => !isOfRow(each)));
      const line = this.own.get(row);
      if (line) line.push(...all);
      else {
        this.own.set(row, all);
        void this.drain(all, true, () => this.own.delete(row));
      }
    }
  }

  /** Later batches would fail the same way, each after a time-out of its own, so items that have waited long enough fail now. */
  private giveUp(line: Waiting<Item, Result>[], error: RouterError): void {
    const unsent = new RouterError(error.bucket, error.publicDetail, { cause: error });
    const lastMs = performance.now() - (this.lockedRows?.patienceMs ?? 0);
    const stays = ({ sinceMs }: Waiting<Item, Result>) => sinceMs > lastMs;
    for (const each of line.splice(0, Infinity, ...line.filter(stays))) if (!stays(each)) each.reject(unsent);
  }

  private takeBatch(line: Waiting<Item, Result>[]): Waiting<Item, Result>[] {
    let count = 0;
    let bytes = 0;
    for (const { item } of line) {
      bytes += this.lockedRows?.bytesOf(item) ?? 0;
      if (count === maxItems || (count > 0 && bytes > maxBytes)) break;
      count += 1;
    }
    return line.splice(0, count);
  }
}

/** For what is written under the lock of a workspace's row. */
export const workspaceRows = (patienceMs: number): LockedRows<{ workspaceId: string; bytes: number }> => ({
  rowOf: ({ workspaceId }) => workspaceId,
  bytesOf: ({ bytes }) => bytes,
  patienceMs,
});

/** The results of a SQL function that locks workspaces first: null where one is locked or, when it waits, is not there. */
export function workspaceResults<Result>(
  rows: readonly { results: (Result | null)[] }[],
  waits: boolean,
): BatchResults<Result> {
  const text = 'The request carries no usable credential.';
  // A workspace can be deleted while its credential is still known to a gateway.
  const absent = waits
    ? new RouterError('unauthorized', text, { internal: 'a workspace is not there' })
    : undefined;
  return rows.flatMap(({ results }) => results.map((result) => result ?? absent));
}

/** Puts rows that name items by their place in the statement in the order of these items. */
export function byPlace<Row extends { nth: number }>(
  count: number,
  rows: readonly Row[],
): (Row | undefined)[] {
  const places = Array.from<Row | undefined>({ length: count });
  for (const row of rows) places[row.nth - 1] = row;
  return places;
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
