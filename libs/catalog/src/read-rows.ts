import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pointerFrom } from '#schemas';
import { declaredProvider, type ProviderDefinition } from '#providers';
import { documentsIn, smallText } from './documents.js';
import type { Documents } from './intake/intake.js';
import { hidingRow, type Model, readModel } from './model.js';
import { parseRow } from './parsed-rows.js';

/** What is wrong with a catalog directory: which file, where in it (JSON pointer), and why. */
export interface CatalogProblem {
  file: string;
  pointer: string;
  reason: string;
}

// Parsing holds the event loop: half a mebibyte of YAML takes a quarter of a second.
const largestRowBytes = 256 * 1024;

interface Found<T> {
  file: string;
  content: T;
}

/** What one file is about: a model, a model to hide, or a provider. */
type Row = { id: string; pointer: string } & ({ model?: Model } | { provider: ProviderDefinition });

export interface DirectoryRows {
  rows: Found<Row>[];
  problems: CatalogProblem[];
}

/** Reads every `*.yaml` of a directory, one a turn of the event loop. Never throws: what cannot be read is a problem. */
export async function readDirectory(directory: string): Promise<DirectoryRows> {
  const rows = new Map<string, Found<Row>>();
  const problems: CatalogProblem[] = [];
  const documents = documentsIn(directory);
  for (const file of await rowFiles(directory, problems)) {
    await setImmediate();
    const row = readRow(file, documents, problems);
    if (row === undefined) continue;
    const twin = rows.get(row.id);
    if (twin === undefined) rows.set(row.id, { file, content: row });
    else
      problems.push({ file, pointer: row.pointer, reason: `${row.id} is already described by ${twin.file}` });
  }
  return { rows: [...rows.values()], problems };
}

export interface LayeredRows {
  models: Found<Model>[];
  providers: Found<ProviderDefinition>[];
  problems: CatalogProblem[];
}

/** The rows of several directories as one: a later one replaces or hides rows of an earlier one. */
export function layered(directories: readonly DirectoryRows[]): LayeredRows {
  const models = new Map<string, Found<Model>>();
  const providers = new Map<string, Found<ProviderDefinition>>();
  for (const { file, content } of directories.flatMap(({ rows }) => rows)) {
    if ('provider' in content) providers.set(content.id, { file, content: content.provider });
    else if (content.model === undefined) models.delete(content.id);
    else models.set(content.id, { file, content: content.model });
  }
  return {
    models: [...models.values()],
    providers: [...providers.values()],
    problems: directories.flatMap(({ problems }) => problems),
  };
}

async function rowFiles(directory: string, problems: CatalogProblem[]): Promise<string[]> {
  try {
    return await namesIn(directory, /\.ya?ml$/);
  } catch (error) {
    problems.push({ file: directory, pointer: '', reason: messageOf(error) });
    return [];
  }
}

/** A mounted config map holds its files once more below a hidden folder; hidden names are not rows. */
export const namesIn = async (directory: string, ending: RegExp): Promise<string[]> =>
  (await readdir(directory))
    .filter((name) => ending.test(name) && !name.startsWith('.'))
    .sort()
    .map((name) => join(directory, name));

function readRow(file: string, documents: Documents, problems: CatalogProblem[]): Row | undefined {
  let row: unknown;
  try {
    row = parseRow(smallText(file, largestRowBytes));
  } catch (error) {
    problems.push({ file, pointer: '', reason: messageOf(error) });
    return undefined;
  }
  if (has(row, 'provider')) {
    const declared = declaredProvider(row);
    if (declared.definition) {
      return { id: declared.definition.name, pointer: '/provider', provider: declared.definition };
    }
    problems.push(...problemsOf(file, declared.problems));
    return undefined;
  }
  if (has(row, 'hidden')) {
    const hiding = hidingRow.safeParse(row);
    if (hiding.success) return { id: hiding.data.id, pointer: '/id' };
    problems.push(...problemsOf(file, hiding.error.issues));
    return undefined;
  }
  const read = readModel(row, documents);
  if (read.model) return { id: read.model.id, pointer: '/id', model: read.model };
  problems.push(...problemsOf(file, read.problems));
  return undefined;
}

const has = (row: unknown, field: string): boolean => typeof row === 'object' && row !== null && field in row;

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
