import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkRow, type Model } from '#catalog';
import { declaredProvider, parsedYaml } from '#providers';
import { z } from 'zod';
import { type Draft, documentsOf, problemText, sha256, today } from './draft.js';

const maxDocumentBytes = 4 * 1024 * 1024;
const maxRowBytes = 256 * 1024;

/** The result for one draft. Everything but the first three is reported to the operator as skipped. */
export type Written =
  | { state: 'added' | 'updated' | 'unchanged' }
  | { state: 'edited' | 'collision' | 'unusable'; reason: string };

/** The member by which an import knows its own files. */
const origin = z.object({ from: z.string(), hash: z.string() });
type Origin = z.infer<typeof origin>;

/** A row in JSON, which is YAML too, and which a catalog reads much faster than other YAML. */
const textOf = (row: unknown): string => `${JSON.stringify(row, undefined, 2)}\n`;

/** A directory of rows into which an import writes. It replaces only files that an import wrote and nobody edited. */
export class RowDirectory {
  private constructor(
    private readonly directory: string,
    /** The origin of each file. Undefined if no import wrote it. */
    private readonly files: Map<string, Origin | undefined>,
    /** The owner of each id, alias and address at a provider. */
    private readonly owners: Map<string, string>,
    /** The documents, by the base of the row to which they belong. */
    private readonly documents: Map<string, Set<string>>,
  ) {}

  /** Reads the directory, and creates it if needed. `others` are the models whose names are taken. */
  static async open(directory: string, others: readonly Model[]): Promise<RowDirectory> {
    await mkdir(directory, { recursive: true });
    const files = new Map<string, Origin | undefined>();
    const owners = new Map(
      others.flatMap((model) => namesOf(model).map((name) => [name, model.id] as const)),
    );
    const names = (await readdir(directory)).sort();
    for (const name of names.filter((each) => /^[^.].*\.ya?ml$/.test(each))) {
      const row = rowIn(await readFile(join(directory, name), 'utf8'));
      files.set(name, originOf(row));
      if (row === undefined) continue;
      for (const taken of namesOf(row)) owners.set(taken, String(row['id'] ?? row['provider']));
    }
    const documents = new Map<string, Set<string>>();
    for (const name of names.filter((each) => documentName.test(each))) {
      documents.set(baseOf(name), (documents.get(baseOf(name)) ?? new Set()).add(name));
    }
    return new RowDirectory(directory, files, owners, documents);
  }

  /** Writes the files of a draft, each completely or not at all. */
  async put(draft: Draft): Promise<Written> {
    const { base, from, document } = draft;
    if (document && Buffer.byteLength(document.text) > maxDocumentBytes) {
      return { state: 'unusable', reason: `its schema is larger than ${maxDocumentBytes} bytes` };
    }
    const name = `${base}.yaml`;
    const isStored = this.files.has(name);
    const stored = this.files.get(name);
    if (isStored) {
      const source = stored?.from;
      if (source === undefined) return { state: 'collision', reason: `${name} was not written by an import` };
      if (source !== from) return { state: 'collision', reason: `${name} was imported from ${source}` };
      if (await this.isEdited(name))
        return { state: 'edited', reason: `${name} has been edited, and is left as it is` };
    }
    const id = String(draft.row['id'] ?? draft.row['provider']);
    const taken = namesOf(draft.row).find(
      (each) => (this.owners.get(each) ?? id) !== id || (!isStored && this.owners.has(each)),
    );
    if (taken !== undefined) {
      return {
        state: 'collision',
        reason: `${taken.replace(/ .*/, '')} is already served by ${this.owners.get(taken)}`,
      };
    }
    const [problem] = problemsOf(draft);
    if (problem) return { state: 'unusable', reason: problem };
    const hash = sha256(textOf(draft.row) + (document?.text ?? ''));
    const row = { ...draft.row, generated: { from, hash, at: today() } };
    const text = textOf(row);
    if (text.length > maxRowBytes)
      return { state: 'unusable', reason: `its row is larger than ${maxRowBytes} bytes` };
    if (stored?.hash === hash) return { state: 'unchanged' };
    // The row comes last, because it names its document. Whenever this stops, the directory is usable.
    if (document) await this.replace(document.name, document.text);
    await this.replace(name, text);
    await this.removeOldDocuments(base, document?.name);
    this.files.set(name, { from, hash });
    for (const each of namesOf(draft.row)) this.owners.set(each, id);
    return { state: isStored ? 'updated' : 'added' };
  }

  private async isEdited(name: string): Promise<boolean> {
    const text = await readFile(join(this.directory, name), 'utf8');
    const row = rowIn(text);
    if (text !== textOf(row)) return true;
    const { generated: _, ...own } = row ?? {};
    const [, file] = /"\$ref":"([^"#]+\.json)#/.exec(JSON.stringify(row?.['input'] ?? null)) ?? [];
    const document =
      file === undefined ? '' : await readFile(join(this.directory, file), 'utf8').catch(() => 'absent');
    return sha256(textOf(own) + document) !== originOf(row)?.hash;
  }

  private async replace(name: string, text: string): Promise<void> {
    // A hidden name, which no reader of a catalog opens.
    const temporary = join(this.directory, `.${randomUUID()}.tmp`);
    try {
      await writeFile(temporary, text, { flag: 'wx', flush: true });
      await rename(temporary, join(this.directory, name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  private async removeOldDocuments(base: string, current: string | undefined): Promise<void> {
    for (const name of this.documents.get(base) ?? []) {
      if (name !== current) await rm(join(this.directory, name), { force: true });
    }
    this.documents.set(base, new Set(current === undefined ? [] : [current]));
  }
}

/** The name of a stored document: the base of its row and a part of its hash. */
const documentName = /\.[0-9a-f]{12}\.json$/;

const baseOf = (name: string): string => name.replace(documentName, '');

const originOf = (row: Record<string, unknown> | undefined): Origin | undefined =>
  origin.safeParse(row?.['generated']).data;

function rowIn(text: string): Record<string, unknown> | undefined {
  try {
    const row = parsedYaml(text);
    return typeof row === 'object' && row !== null ? (row as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** The names that a row takes: its id, its aliases, and its address at its provider. */
function namesOf(row: Model | Record<string, unknown>): string[] {
  const { id, aliases, upstream, provider, constants } = row as Partial<Model>;
  if (id === undefined) return [`provider ${provider}`];
  if (upstream === undefined) return [id];
  const server = provider ?? id.split('/')[0];
  const { path, version = '' } = upstream;
  const model = constants ? JSON.stringify(constants) : '';
  return [id, ...(aliases ?? []), `${path} at ${server} ${version} ${model}`];
}

function problemsOf(draft: Draft): readonly string[] {
  if (!('id' in draft.row)) {
    const declared = declaredProvider(draft.row);
    return 'problems' in declared ? declared.problems.map(({ message }) => message) : [];
  }
  return draft.problems ?? checkRow(draft.row, documentsOf(draft)).problems.map(problemText);
}
