import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pointerFrom } from '#schemas';
import { declaredProvider, parsedYaml, type ProviderDefinition, type RowProblem } from '#providers';
import type { z } from 'zod';
import {
  type CatalogFile,
  digestOf,
  filesIn,
  isRow,
  maxDocumentBytes,
  revisionOfFiles,
  turns,
} from './catalog-files.js';
import { type Documents, isObject } from './intake/intake.js';
import { checkModel, type LateDocuments, type Model, providerOf } from './model.js';
import { type EndedModel, endedRow, hidingRow } from './model-row.js';

/** A problem in a catalog directory: the file, the place in it (a JSON pointer), and the reason. */
export interface CatalogProblem {
  file: string;
  pointer: string;
  reason: string;
  /** A warning: the row can be used anyway. */
  isWarning?: true;
}

/** A model, or only what is compared between files. */
export type ModelOrNames = { model: Model } | { names: Pick<Model, 'id' | 'provider' | 'aliases'> };

/** The content of a file: a model, an ended model, a model to hide, or a provider. */
type Row = { id: string } & (
  ModelOrNames | EndedModel | z.infer<typeof hidingRow> | { provider: ProviderDefinition }
);

export interface DirectoryRows {
  rows: (Row & { file: string })[];
  problems: CatalogProblem[];
  /** A hash of the names and contents of the directory's files. */
  revision: string;
}

// Parsing blocks the event loop: 512 KiB of YAML take a quarter of a second.
const maxRowBytes = 256 * 1024;
/** The largest document that is read on first use. Reading and compiling it must not block the event loop for long. */
const maxLateBytes = 256 * 1024;

/**
 * Reads every `*.yaml` file of a directory, one per turn of the event loop. Never throws: unreadable files are
 * problems.
 */
export const readDirectory = (directory: string): Promise<DirectoryRows> => rowsOf(directory, true);

/** Finds the same problems as `readDirectory`, but keeps only the names of models. */
export const checkDirectory = (directory: string): Promise<DirectoryRows> => rowsOf(directory, false);

async function rowsOf(directory: string, keepsModels: boolean): Promise<DirectoryRows> {
  const texts = new Map<string, unknown>();
  const rows = new Map<string, Row & { file: string }>();
  const problems: CatalogProblem[] = [];
  const refuse = (file: string, pointer: string, error: unknown) => {
    problems.push({ file, pointer, reason: error instanceof Error ? error.message : String(error) });
  };
  const files = await filesIn(directory).catch((error: unknown) => {
    refuse(directory, '', error);
    return [];
  });
  const yieldAtTimes = turns();
  for (const file of files) {
    if (!isRow(file.path)) continue;
    await yieldAtTimes();
    try {
      texts.set(file.path, parsedYaml(rowText(file)));
    } catch (error) {
      refuse(file.path, '', error);
    }
  }
  const late = lateDocuments(files);
  const documents = documentsIn(directory);
  const byId = new Map([...texts.values()].map((text) => [Object(text).id as unknown, text]));
  for (const [file, text] of texts) {
    await yieldAtTimes();
    let whole: unknown;
    try {
      whole = extended(text, byId);
    } catch (error) {
      refuse(file, '/extends', error);
      continue;
    }
    const row = readRow(whole, keepsModels, documents, late);
    if ('problems' in row) {
      for (const { path, message } of row.problems) {
        refuse(file, pointerFrom(path), message.replace('Invalid input: ', ''));
      }
      continue;
    }
    const twin = rows.get(row.id);
    if (twin === undefined) rows.set(row.id, { ...row, file });
    else
      refuse(file, 'provider' in row ? '/provider' : '/id', `${row.id} is already defined in ${twin.file}`);
  }
  return { rows: [...rows.values()], problems, revision: revisionOfFiles(files) };
}

function readRow(
  row: unknown,
  keepsModels: boolean,
  documents: Documents,
  late: LateDocuments,
): Row | { problems: readonly RowProblem[] } {
  if (has(row, 'provider') && !has(row, 'id')) {
    const declared = declaredProvider(row);
    return declared.definition ? { id: declared.definition.name, provider: declared.definition } : declared;
  }
  if (has(row, 'hidden') || has(row, 'ended')) {
    const absent = (has(row, 'hidden') ? hidingRow : endedRow).safeParse(row);
    return absent.success ? absent.data : { problems: absent.error.issues };
  }
  const checked = checkModel(row, documents, late);
  if ('problems' in checked) return checked;
  const { id, aliases } = checked.row;
  if (keepsModels) return { id, model: checked.model() };
  return { id, names: { id, aliases, provider: providerOf(checked.row) } };
}

/** Fields that a row does not inherit from the row that it extends. */
const ownFields = ['id', 'aliases', 'snapshots', 'servers', 'ends', 'successor'];

/**
 * Expands a row with `extends`: merges its fields into the other row of the same directory as a JSON merge patch
 * (RFC 7396), except the example, which it replaces. Returns other rows unchanged. Throws if the other row cannot
 * be extended.
 */
function extended(row: unknown, byId: ReadonlyMap<unknown, unknown>): unknown {
  if (!isObject(row) || row['extends'] === undefined) return row;
  const { extends: id, ...own } = row;
  const other = byId.get(id);
  if (!isObject(other)) throw new Error(`there is no row ${JSON.stringify(id)} in the same directory`);
  // Only one level, so that a reader has at most two files to open, and there are no cycles.
  if (other['extends'] !== undefined)
    throw new Error(`${JSON.stringify(id)} itself extends another row; only one level is allowed`);
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

/**
 * The JSON documents of a catalog directory to which rows may refer, mostly published by a provider. Each is read
 * once.
 */
function documentsIn(directory: string): Documents {
  const known = new Map<string, unknown>();
  return (file) => {
    // Never outside the directory: permission to write rows must not give access to other files.
    if (!/^[^./\\][^/\\]*\.json$/.test(file))
      throw new Error('a document must be a .json file in the directory of the row');
    if (!known.has(file)) known.set(file, JSON.parse(textOf(join(directory, file), maxDocumentBytes)));
    return known.get(file);
  };
}

function textOf(file: string, maxBytes: number): string {
  refuseLarger(statSync(file).size, maxBytes);
  return readFileSync(file, 'utf8');
}

function rowText({ size, text, error }: CatalogFile): string {
  if (error !== undefined) throw error;
  refuseLarger(size, maxRowBytes);
  return text ?? '';
}

function refuseLarger(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new Error(`the file is larger than ${maxBytes} bytes`);
}

/**
 * The documents of the directory that can be read on first use. They must then be as they were when the directory was
 * read, because its revision names their contents.
 */
function lateDocuments(files: readonly CatalogFile[]): LateDocuments {
  const byName = new Map(files.map((file) => [basename(file.path), file]));
  return (name) => {
    const file = byName.get(name);
    if (file?.isWhole !== true || file.size > maxLateBytes) return undefined;
    const { path, digest } = file;
    const read = (): unknown => {
      const bytes = readFileSync(path);
      if (digestOf(bytes) !== digest) throw new Error(`${path} has changed since the catalog was read`);
      return JSON.parse(bytes.toString());
    };
    return { digest, read };
  };
}

const has = (row: unknown, field: string): boolean => isObject(row) && field in row;
