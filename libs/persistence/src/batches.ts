import { RouterError } from '#errors';

/**
 * The result of each item, or the error if only that item failed. Undefined if a row that the item needs is locked
 * and the statement does not wait.
 */
export type BatchResults<Result> = (Result | Error | undefined)[];

type Send<Item, Result> = (items: readonly Item[], waits: boolean) => Promise<BatchResults<Result>>;

/** For items that are written under a row lock, such as that of their workspace. */
interface LockedRows<Item> {
  rowOf: (item: Item) => string;
  bytesOf: (item: Item) => number;
  /** How long an item stays in line while the database is down, in milliseconds. */
  patienceMs: number;
}

interface Waiting<Item, Result> {
  item: Item;
  sinceMs: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Limits of one batch, so that many items or one large item cannot hold a connection or a row for long. */
const maxItems = 50;
const maxBytes = 4 * 1024 * 1024;

/**
 * Sends items that arrive at about the same time in one statement, so that a busy process makes fewer statements
 * and commits. A statement that holds row locks must not wait for another one, so it skips locked rows. A second
 * statement waits for those, and delays no other items.
 *
 * Without `lockedRows`, the items of one turn of the event loop are sent together, and a locked item is sent again
 * alone. With `lockedRows`, one statement is in flight at a time, and items that arrive meanwhile go into the next
 * one. The items of a locked row get their own line until that line is empty.
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

  /** Sends a batch and settles its items. Returns the error if the database was unavailable. */
  private async settle(batch: Waiting<Item, Result>[], waits: boolean): Promise<RouterError | undefined> {
    try {
      const items = batch.map(({ item }) => item);
      const results = await this.send(items, waits);
      const locked: Waiting<Item, Result>[] = [];
      for (const [nth, each] of batch.entries()) {
        const result = results[nth];
        if (result instanceof Error) each.reject(result);
        else if (result !== undefined) each.resolve(result);
        else if (waits)
          each.reject(new Error('a statement that waits for locks returned no result for an item'));
        else locked.push(each);
      }
      this.waitForRows(locked);
    } catch (error) {
      if (error instanceof RouterError || batch.length === 1) for (const each of batch) each.reject(error);
      // One of the items is invalid. Send each by itself, so that only that one fails.
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
      // Include items of the same row that have arrived meanwhile.
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

  /**
   * Rejects items that have waited long enough: later batches would fail the same way, each after another timeout.
   */
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

/** For items that are written under the lock of a workspace's row. */
export const workspaceRows = (patienceMs: number): LockedRows<{ workspaceId: string; bytes: number }> => ({
  rowOf: ({ workspaceId }) => workspaceId,
  bytesOf: ({ bytes }) => bytes,
  patienceMs,
});

/**
 * The results of a SQL function that locks workspaces first. It returns null for an item whose workspace is locked,
 * or, if the function waits, does not exist.
 */
export function workspaceResults<Result>(
  rows: readonly { results: (Result | null)[] }[],
  waits: boolean,
): BatchResults<Result> {
  const text = 'The request carries no usable credential.';
  // A workspace can be deleted while a gateway still caches its credential.
  const absent = waits
    ? new RouterError('unauthorized', text, { internal: 'the workspace does not exist' })
    : undefined;
  return rows.flatMap(({ results }) => results.map((result) => result ?? absent));
}

/** Sorts rows into the order of their items. `nth` is the position of a row's item in the statement, from 1. */
export function byPlace<Row extends { nth: number }>(
  count: number,
  rows: readonly Row[],
): (Row | undefined)[] {
  const places = Array.from<Row | undefined>({ length: count });
  for (const row of rows) places[row.nth - 1] = row;
  return places;
}

/**
 * Concatenates bodies, and returns the place of each, counted from 1. An array of them would be sent as text, at
 * twice the size.
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
