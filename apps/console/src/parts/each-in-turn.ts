const maxAtOnce = 4;

interface Progress {
  signal: AbortSignal;
  onDone: (done: number) => void;
}

/** Acts on every item, four at a time, until the signal aborts. Returns the results in the order in which they came. */
export async function eachInTurn<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
  { signal, onDone }: Progress,
): Promise<Result[]> {
  const left = items.values();
  const results: Result[] = [];
  const work = async () => {
    for (const item of left) {
      if (signal.aborted) return;
      results.push(await act(item));
      onDone(results.length);
    }
  };
  await Promise.all(Array.from({ length: maxAtOnce }, work));
  return results;
}
