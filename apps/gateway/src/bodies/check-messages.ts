import type { Model } from '#catalog';
import type { FieldError } from '#errors';

/** To the thread. The model goes along once; afterwards its id is enough. The bytes move, they are not copied. */
export interface CheckOrder {
  order: number;
  modelId: string;
  model?: Model;
  bytes: Uint8Array;
}

/** From the thread, with the bytes when they are to be admitted. */
export type CheckReport =
  | { order: number; kind: 'accepted'; bytes: Uint8Array; reservedMicros: number }
  | { order: number; kind: 'rejected'; fields: FieldError[] }
  | { order: number; kind: 'malformed'; detail: string }
  | { order: number; kind: 'failed'; reason: string };
