import { type CallQuery, checkInput, type MeasuredRows, type Model, type ServerTerms } from '#catalog';
import { type FieldError, InputRejection, RouterError, type UnknownField } from '#errors';
import { LRUCache } from 'lru-cache';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { parseInput } from './parse-input.js';

/** The models that may serve an input. The first must accept it. */
export type Servers<Form = Model> = readonly [Form, ...Form[]];

/** The terms of the servers that accept the input, in order of preference. */
export type Terms = readonly [ServerTerms, ...ServerTerms[]];

/** A body to check. Its bytes are transferred to the thread, and back if they are valid, without a copy. */
export interface CheckOrder {
  /** As JSON, which is far faster to transfer than the model's many objects. */
  servers: Servers<ModelText>;
  query: CallQuery;
  measured: MeasuredRows;
  bytes: Uint8Array;
}

export interface ModelText {
  id: string;
  json: string;
}

/** The result as plain data, because errors lose their class between threads. */
export type CheckReport =
  | { bytes: Uint8Array; terms: Terms }
  | { fields: FieldError[]; unknownFields: readonly UnknownField[] }
  | { detail: string }
  | { bug: string };

/** The function that the thread runs. */
export function check({ servers: [server, ...others], query, measured, bytes }: CheckOrder): unknown {
  try {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const terms = checkInput([known(server), ...others.map(known)], parseInput(body), query, measured);
    return move({
      [transferableSymbol]: [bytes.buffer],
      [valueSymbol]: { bytes, terms } satisfies CheckReport,
    });
  } catch (error) {
    if (error instanceof InputRejection) {
      const { fields, unknownFields } = error;
      return { fields, unknownFields } satisfies CheckReport;
    }
    if (error instanceof RouterError) return { detail: error.publicDetail } satisfies CheckReport;
    return { bug: String(error) } satisfies CheckReport;
  }
}

/** Bounded, because a compiled schema takes up to a megabyte. */
const models = new LRUCache<string, { json: string; model: Model }>({ max: 500 });

/** Returns the same object for an unchanged model, because the compiled schema is attached to the object. */
function known({ id, json }: ModelText): Model {
  const before = models.get(id);
  if (before?.json === json) return before.model;
  const model = JSON.parse(json) as Model;
  models.set(id, { json, model });
  return model;
}
