import type { Source } from './draft.js';
import type { RowDirectory, Written } from './row-directory.js';

export interface Imported {
  added: string[];
  updated: string[];
  unchanged: string[];
  /** Generated rows that somebody has edited; they were left as they are. */
  edited: { name: string; reason: string }[];
  /** Rows that were written and whose upper bound is larger than the published price. */
  bounded: { name: string; reason: string }[];
  skipped: { name: string; reason: string }[];
}

/** Writes the drafts of a source, one after the other, until the signal stops it between two of them. */
export async function importModels(
  source: Source,
  directory: RowDirectory,
  {
    names,
    signal,
    progress,
  }: { names?: readonly string[]; signal: AbortSignal; progress: (count: number) => void },
): Promise<Imported> {
  const result: Imported = { added: [], updated: [], unchanged: [], edited: [], bounded: [], skipped: [] };
  let count = 0;
  try {
    for await (const { name, isDeprecated, bounded, ...found } of source.drafts(names)) {
      signal.throwIfAborted();
      progress((count += 1));
      if ('skipped' in found) result.skipped.push({ name, reason: found.skipped });
      else if (isDeprecated) result.skipped.push({ name, reason: 'the source says that it is deprecated' });
      else {
        const written = await directory.put(found.draft);
        note(result, name, written);
        if (bounded !== undefined && !('reason' in written)) result.bounded.push({ name, reason: bounded });
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    result.skipped.push({ name: 'the rest', reason: 'the command was interrupted' });
  }
  return result;
}

function note(result: Imported, name: string, written: Written): void {
  if (!('reason' in written)) result[written.state].push(name);
  else result[written.state === 'edited' ? 'edited' : 'skipped'].push({ name, reason: written.reason });
}
