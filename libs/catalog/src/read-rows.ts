import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { documentsIn, smallText } from './documents.js';
import type { Documents } from './intake/walk.js';
import { hidingRow, type Model, modelFrom, modelRowWith } from './model.js';
import { pointerFrom } from './pointer.js';

/** What is wrong with a catalog directory: which file, where in it (JSON pointer), and why. */
export interface CatalogProblem {
  file: string;
  pointer: string;
  reason: string;
}

// Parsing holds the event loop: half a mebibyte of YAML takes a quarter of a second.
const largestRowBytes = 256 * 1024;

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
    const documents = documentsIn(directory);
    for (const file of await rowFiles(directory, problems)) {
      const row = readRow(file, documents, problems);
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

function readRow(
  file: string,
  documents: Documents,
  problems: CatalogProblem[],
): { id: string; model?: Model } | undefined {
  let row: unknown;
  try {
    row = parse(smallText(file, largestRowBytes), { version: '1.2', schema: 'core', maxAliasCount: 100 });
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
  const parsed = modelRowWith(documents).safeParse(row);
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
