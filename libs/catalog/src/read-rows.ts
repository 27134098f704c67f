import { readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pointerFrom } from '#schemas';
import { declaredProvider, parsedYaml, type ProviderDefinition, type RowProblem } from '#providers';
import type { z } from 'zod';
import { type Documents, isObject } from './intake/intake.js';
import { type Model, readModel } from './model.js';
import { type EndedModel, endedRow, hidingRow } from './model-row.js';

/** A problem of a catalog directory: the file, the place in it (JSON pointer), and the reason. */
export interface CatalogProblem {
  file: string;
  pointer: string;
  reason: string;
  /** Worth knowing; what says it may be used all the same. */
  isWarning?: true;
}

/** The content of a file: a model, a model that has ended, one to hide, or a provider. */
type Row = { id: string } & (
  { model: Model } | EndedModel | z.infer<typeof hidingRow> | { provider: ProviderDefinition }
);

export interface DirectoryRows {
  rows: (Row & { file: string })[];
  problems: CatalogProblem[];
}

// Parsing holds the event loop: half a mebibyte of YAML takes a quarter of a second.
const maxRowBytes = 256 * 1024;
const maxDocumentBytes = 4 * 1024 * 1024;

/** Reads every `*.yaml` of a directory, one a turn of the event loop. Never throws: what cannot be read is a problem. */
export async function readDirectory(directory: string): Promise<DirectoryRows> {
  const texts = new Map<string, unknown>();
  const rows = new Map<string, Row & { file: string }>();
  const problems: CatalogProblem[] = [];
  const refuse = (file: string, pointer: string, error: unknown) => {
    problems.push({ file, pointer, reason: error instanceof Error ? error.message : String(error) });
  };
  const files = await namesIn(directory, /\.ya?ml$/).catch((error: unknown) => {
    refuse(directory, '', error);
    return [];
  });
  for (const file of files) {
    await setImmediate();
    try {
      texts.set(file, parsedYaml(textOf(file, maxRowBytes)));
    } catch (error) {
      refuse(file, '', error);
    }
  }
  const documents = documentsIn(directory);
  const byId = new Map([...texts.values()].map((text) => [Object(text).id as unknown, text]));
  for (const [file, text] of texts) {
    await setImmediate();
    let whole: unknown;
    try {
      whole = extended(text, byId);
    } catch (error) {
      refuse(file, '/extends', error);
      continue;
    }
    const row = readRow(whole, documents);
    if ('problems' in row) {
      for (const { path, message } of row.problems) {
        refuse(file, pointerFrom(path), message.replace('Invalid input: ', ''));
      }
      continue;
    }
    const twin = rows.get(row.id);
    if (twin === undefined) rows.set(row.id, { ...row, file });
    else
      refuse(file, 'provider' in row ? '/provider' : '/id', `${row.id} is already described by ${twin.file}`);
  }
  return { rows: [...rows.values()], problems };
}

/** A mounted config map holds its files once more below a hidden folder; hidden names are not rows. */
export const namesIn = async (directory: string, ending: RegExp): Promise<string[]> =>
  (await readdir(directory))
    .filter((name) => ending.test(name) && !name.startsWith('.'))
    .sort()
    .map((name) => join(directory, name));

function readRow(row: unknown, documents: Documents): Row | { problems: readonly RowProblem[] } {
  if (has(row, 'provider') && !has(row, 'id')) {
    const declared = declaredProvider(row);
    return declared.definition ? { id: declared.definition.name, provider: declared.definition } : declared;
  }
  if (has(row, 'hidden') || has(row, 'ended')) {
    const absent = (has(row, 'hidden') ? hidingRow : endedRow).safeParse(row);
    return absent.success ? absent.data : { problems: absent.error.issues };
  }
  const read = readModel(row, documents);
  return 'model' in read ? { id: read.model.id, model: read.model } : read;
}

/** Fields that a row never takes from the row that it extends. */
const ownFields = ['id', 'aliases', 'servers', 'ends', 'successor'];

/**
 * A row that names another one of its directory in `extends`, written out: the other row with this row's fields merged
 * in, as a JSON merge patch (RFC 7396), but for the example, which is whole. Any other row stays as it is. Throws when
 * it names no row of its own.
 */
function extended(row: unknown, byId: ReadonlyMap<unknown, unknown>): unknown {
  if (!isObject(row) || row['extends'] === undefined) return row;
  const { extends: id, ...own } = row;
  const other = byId.get(id);
  if (!isObject(other)) throw new Error(`no row in the same directory is ${JSON.stringify(id)}`);
  // One step only: a reader has two files to open, and no row can lead back to itself.
  if (other['extends'] !== undefined) throw new Error(`${JSON.stringify(id)} itself extends another row`);
  const isShared = (name: string) => !ownFields.includes(name) && !(name === 'example' && own['example']);
  const shared = Object.entries(other).filter(([name]) => isShared(name));
  return merged(Object.fromEntries(shared), own);
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

/** The JSON documents of a catalog directory, mostly a provider's own, for rows to refer to; each is read once. */
function documentsIn(directory: string): Documents {
  const known = new Map<string, unknown>();
  return (file) => {
    // Never out of the directory: a row is written by whoever may write rows, not by whoever may read files.
    if (!/^[^./\\][^/\\]*\.json$/.test(file)) throw new Error('a document is a .json file beside the row');
    if (!known.has(file)) known.set(file, JSON.parse(textOf(join(directory, file), maxDocumentBytes)));
    return known.get(file);
  };
}

function textOf(file: string, maxBytes: number): string {
  if (statSync(file).size > maxBytes) throw new Error(`larger than ${maxBytes} bytes`);
  return readFileSync(file, 'utf8');
}

const has = (row: unknown, field: string): boolean => isObject(row) && field in row;
