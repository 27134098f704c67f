import type { OperatorFacts } from '../../../apps/admin/src/catalog-import/sources/openai-compatible.js';

/** The facts of a row that an import makes of an entry. */
interface Expected {
  path: string;
  model: string;
  in: string[];
  /** The largest input, in tokens. */
  context?: number;
  /** Dollars per million input tokens, output tokens, and tokens read from a cache; of an image model, dollars per image. */
  usd: readonly number[];
  ends?: string;
}

export interface PublicServer {
  server: string;
  list: object[];
  /** Facts that the operator adds. */
  facts?: OperatorFacts;
  rows: Record<string, Expected>;
  skipped: Record<string, string>;
}

export const chat = 'chat/completions';
export const neither = 'it is neither for chat, nor for embeddings, nor for images: ';
export const unpriced =
  'the server publishes no price: give --usd-per-million-input and --usd-per-million-output';
export const operator = { usdPerMillionInput: 0.5, usdPerMillionOutput: 1.5 };
