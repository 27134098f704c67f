import { createHash } from 'node:crypto';
import { checkRow, type Documents, type Model } from '#catalog';
import { routerModelSegment } from '#schemas';
import { exampleInput } from './example-input.js';

/** A published document that a row refers to, stored beside it under a name that changes with its content. */
interface StoredDocument {
  name: string;
  text: string;
  json: unknown;
}

/** A file that an import would write: a model's row or a provider's declaration. */
export interface Draft {
  /** The file name without its ending. */
  base: string;
  /** The address at which the source publishes it. */
  from: string;
  row: Record<string, unknown>;
  document?: StoredDocument;
  /** The problems that a check of the row found. Absent if it was not checked: compiling its schema takes milliseconds. */
  problems?: readonly string[];
}

/** A name of the source, with a draft or the reason why there is none. */
export type Found = {
  name: string;
  isDeprecated?: true;
  /** Why the upper bound of the price is larger than the published price. */
  bounded?: string;
} & ({ draft: Draft } | { skipped: string });

/** A place that publishes models. Its generators end early, with a skipped entry, if it cannot be read. */
export interface Source {
  /** The provider that serves its models. */
  provider: string;
  /** Whether the source publishes the price of the row. Otherwise it is the operator's. */
  comparesPrice: (row: Model) => boolean;
  /** The drafts of the named models, or of those that the operator selected. */
  drafts: (names?: readonly string[]) => AsyncGenerator<Found>;
  /** The names of all models that can be run. Absent if the source has too many to list. */
  names?: () => AsyncGenerator<Found | { name: string }>;
  /** The source's name of a row. */
  nameOf: (model: Model) => string | undefined;
}

/** Why a named model has no draft, although the source was read. */
export const unpublished = 'the source does not publish it';

export const today = (): string => new Date().toISOString().slice(0, 10);

export const fileBase = (id: string): string => id.replace('/', '__');

export function storedDocument(base: string, json: unknown): StoredDocument {
  const text = `${JSON.stringify(json)}\n`;
  return { name: `${base}.${sha256(text).slice(0, 12)}.json`, text, json };
}

export const documentsOf =
  ({ document }: Pick<Draft, 'document'>): Documents =>
  (file) => {
    if (file !== document?.name) throw new Error(`there is no document ${file}`);
    return document.json;
  };

/** The draft with an example of its input and without empty fields, checked. */
export function withExample(draft: Draft): Draft {
  const row = JSON.parse(JSON.stringify(draft.row)) as Record<string, unknown>;
  const { example, problems } = checkRow(row, documentsOf(draft), exampleInput);
  return { ...draft, row: { ...row, ...(example && { example }) }, problems: problems.map(problemText) };
}

export const problemText = ({ pointer, reason }: { pointer: string; reason: string }): string =>
  `${pointer}: ${reason}`;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The segments of a source's name, joined to one segment of an id. Undefined if they do not form one. */
export function joinedSegments(name: string): string | undefined {
  const joined = name.toLowerCase().replaceAll(/[/:@]/g, '-');
  return routerModelSegment.safeParse(joined).data;
}

/** A text of one line that is cut after a word. */
export function shortened(text: string | undefined, maxLength: number): string | undefined {
  const line = (text ?? '').replaceAll(/\s+/g, ' ').trim();
  if (line.length <= maxLength) return line || undefined;
  return `${line.slice(0, maxLength - 1).replace(/\s+\S*$/, '')}…`;
}
