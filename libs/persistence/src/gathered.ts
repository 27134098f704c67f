import { RouterError } from '#errors';
import DataLoader from 'dataloader';

/** Bound of one statement, so that a crowd holds no connection for long. */
const maxGathered = 50;

/**
 * Sends in one statement what is requested in one turn of the event loop: a busy process makes fewer statements and
 * commits, and nobody waits for it. `send` answers in the order of its items, with undefined for one whose row somebody
 * else has locked: a statement that holds rows must not wait for another. That item then goes alone, and `waits`.
 */
export function gathered<Item, Result>(
  send: (items: readonly Item[], waits: boolean) => Promise<(Result | undefined)[]>,
): (item: Item) => Promise<Result> {
  const alone = async (item: Item): Promise<Result> => {
    const [result] = await send([item], true);
    if (result === undefined) throw new Error('a statement about one item answered nothing');
    return result;
  };
  const together = async (items: readonly Item[]): Promise<(Result | undefined)[]> => {
    if (items.length === 1) return [];
    try {
      return await send(items, false);
    } catch (error) {
      if (error instanceof RouterError) throw error;
      // Something is wrong with one of them: each alone, so that it fails alone.
      return [];
    }
  };
  const loader = new DataLoader<Item, Result | Promise<Result>>(
    async (items) => {
      const results = await together(items);
      // Promises are values here: who goes alone holds up nobody else.
      return items.map((item, nth) => {
        const result = results[nth];
        return result === undefined ? alone(item) : result;
      });
    },
    { cache: false, maxBatchSize: maxGathered, batchScheduleFn: setImmediate },
  );
  return async (item) => loader.load(item);
}

/** What came of each item, from rows that name it by its place in the statement. */
export function byPlace<Row extends { nth: number }>(
  count: number,
  rows: readonly Row[],
): (Row | undefined)[] {
  const places = Array.from<Row | undefined>({ length: count });
  for (const row of rows) places[row.nth - 1] = row;
  return places;
}
