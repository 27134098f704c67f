import { RouterError } from '#errors';

/** What is written under the lock of a workspace's row, and how many bytes travel with it. */
interface Written {
  workspaceId: string;
  bytes: number;
}

/** What one call carries: for each workspace, in the order of their ids, what is written under its lock. */
export type Groups<Item> = [workspaceId: string, items: Item[]][];

/** What came of each item, or why it alone failed; null for a workspace whose row is locked, when the call does not wait. */
export type GroupResults<Result> = (Result | Error)[] | null;

interface BatchOptions<Item, Result> {
  send: (groups: Groups<Item>, waits: boolean) => Promise<GroupResults<Result>[]>;
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
    const groups = byWorkspace(batch);
    const items = groups.map(([id, group]): Groups<Item>[number] => [id, group.map(({ item }) => item)]);
    const results = await this.options.send(items, waits);
    for (const [index, [workspaceId, group]] of groups.entries()) {
      const found = results[index];
      if (!found) {
        this.joinOwn(workspaceId, group);
        continue;
      }
      for (const [nth, each] of group.entries()) {
        const result = found[nth] as Result | Error;
        if (result instanceof Error) each.reject(result);
        else each.resolve(result);
      }
    }
  }
}

/**
 * The statement that calls an SQL function `(workspace, entries, bodies, waits)` for each workspace of a batch, and what
 * makes its values. `entries` is the JSON of what the function takes of the items, without their bodies.
 */
export function batchCall<Item>(
  name: string,
  entries: (items: Item[]) => string,
  body: (item: Item) => Buffer | null,
) {
  const text = `SELECT ${name}(space_id, entries, ($3::bytea[])[first : first + jsonb_array_length(entries) - 1], $5::boolean) AS results
    FROM unnest($1::uuid[], $2::jsonb[], $4::integer[]) AS each (space_id, entries, first)`;
  return (groups: Groups<Item>, waits: boolean): [text: string, values: unknown[]] => {
    let first = 1;
    const values = [
      groups.map(([workspaceId]) => workspaceId),
      groups.map(([, items]) => entries(items)),
      groups.flatMap(([, items]) => items.map(body)),
      groups.map(([, items]) => (first += items.length) - items.length),
      waits,
    ];
    return [text, values];
  };
}

/** In the order of their ids, so that two processes lock them in the same order. */
function byWorkspace<Item extends Written, Result>(
  batch: Waiting<Item, Result>[],
): [string, Waiting<Item, Result>[]][] {
  const groups = new Map<string, Waiting<Item, Result>[]>();
  for (const each of batch) {
    const group = groups.get(each.item.workspaceId);
    if (group) group.push(each);
    else groups.set(each.item.workspaceId, [each]);
  }
  return [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1));
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
