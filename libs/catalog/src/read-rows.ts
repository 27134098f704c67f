import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { hidingRow, type Model, modelFrom, modelRow } from './model.js';
import { pointerFrom } from './pointer.js';

/** What is wrong with a catalog directory: which file, where in it (JSON pointer), and why. */
export interface CatalogProblem {
  file: string;
  pointer: string;
  reason: string;
}

interface FoundModel {
  file: string;
  model: Model;
}

/**
 * Reads every `*.yaml` of the directories. A later directory replaces or hides rows of an earlier one;
 * two rows of one id in the same directory are a problem. Never throws: what cannot be read is a problem.
 */
export async function readRows(
  directories: readonly string[],
): Promise<{ found: FoundModel[]; problems: CatalogProblem[] }> {
  const found = new Map<string, FoundModel>();
  const problems: CatalogProblem[] = [];
  for (const directory of directories) {
    const seen = new Map<string, string>();
    for (const file of await rowFiles(directory, problems)) {
      const row = await readRow(file, problems);
      if (row === undefined) continue;
      const twin = seen.get(row.id);
      if (twin !== undefined) {
        problems.push({ file, pointer: '/id', reason: `${row.id} is already described by ${twin}` });
        continue;
      }
      seen.set(row.id, file);
      if (row.model === undefined) found.delete(row.id);
      else found.set(row.id, { file, model: row.model });
    }
  }
  return { found: [...found.values()], problems };
}

async function rowFiles(directory: string, problems: CatalogProblem[]): Promise<string[]> {
  try {
    const names = await readdir(directory);
    // A mounted config map holds its files once more below a hidden folder; hidden names are not rows.
    return names
      .filter((name) => /^[^.].*\.ya?ml$/.test(name))
      .sort()
      .map((name) => join(directory, name));
  } catch (error) {
    problems.push({ file: directory, pointer: '', reason: messageOf(error) });
    return [];
  }
}

async function readRow(
  file: string,
  problems: CatalogProblem[],
): Promise<{ id: string; model?: Model } | undefined> {
  let row: unknown;
  try {
    row = parse(await readFile(file, 'utf8'), { version: '1.2', schema: 'core', maxAliasCount: 100 });
  } catch (error) {
    problems.push({ file, pointer: '', reason: messageOf(error) });
    return undefined;
  }
  if (typeof row === 'object' && row !== null && 'hidden' in row) {
    const hiding = hidingRow.safeParse(row);
    if (hiding.success) return { id: hiding.data.id };
    problems.push(...problemsOf(file, hiding.error.issues));
    return undefined;
  }
  const parsed = modelRow.safeParse(row);
  if (parsed.success) return { id: parsed.data.id, model: modelFrom(parsed.data) };
  problems.push(...problemsOf(file, parsed.error.issues));
  return undefined;
}

const problemsOf = (
  file: string,
  issues: readonly { path: readonly PropertyKey[]; message: string }[],
): CatalogProblem[] =>
  issues.map((issue) => ({
    file,
    pointer: pointerFrom(issue.path),
    reason: issue.message.replace('Invalid input: ', ''),
  }));

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
