import { addressFor, checkInput, fits, missingMembers, type Model, type Quote, quote } from '#catalog';
import { type FieldError, InputRejection, RouterError } from '#errors';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { parseInput } from './parse-input.js';

/** The models that serve an input. The first has to accept it; of the others it is asked whether they would. */
export type Servers<Form = Model> = readonly [Form, ...Form[]];

/** A body to check. Its bytes move to the thread, and back when they are to be admitted; they are not copied. */
export interface CheckOrder {
  /** As JSON, which is far faster to hand over than its many objects. */
  servers: Servers<ModelText>;
  bytes: Uint8Array;
}

export interface ModelText {
  id: string;
  json: string;
}

/** What is known of an input that passed. */
export interface CheckedInput {
  /** Of every server that takes it, in their order. */
  terms: [Terms, ...Terms[]];
}

/** How one server takes an input. */
export interface Terms {
  /** The id of its row. */
  server: string;
  /** What the call can cost. */
  price: Quote;
  /** What names the model and is left to the router. */
  missingMembers: ReturnType<typeof missingMembers>;
  /** Where the provider takes it. */
  upstream: Record<string, string>;
}

/** Errors lose their class on the way between threads. */
export type CheckReport =
  ({ bytes: Uint8Array } & CheckedInput) | { fields: FieldError[] } | { detail: string } | { bug: string };

/**
 * Checks the body against the first server. Throws `InputRejection` for failing fields, and `invalid_input`, 400, for
 * what is not a JSON object within the limits.
 */
const checkBody = (servers: Servers, bytes: Buffer): CheckedInput =>
  checkParsed(servers, parseInput(bytes), bytes);

/** The same for a body that was parsed. */
export function checkParsed(
  [server, ...others]: Servers,
  input: Record<string, unknown>,
  bytes: Buffer,
): CheckedInput {
  checkInput(server, input, bytes);
  const termsOf = (model: Model): Terms => ({
    server: model.id,
    price: quote(model, input),
    missingMembers: missingMembers(model, input),
    upstream: addressFor(model, input),
  });
  return { terms: [termsOf(server), ...others.filter((other) => fits(other, input, bytes)).map(termsOf)] };
}

/** What the thread runs. */
export function check({ servers: [server, ...others], bytes }: CheckOrder): unknown {
  try {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const checked = checkBody([known(server), ...others.map(known)], body);
    return move({
      [transferableSymbol]: [bytes.buffer],
      [valueSymbol]: { bytes, ...checked } satisfies CheckReport,
    });
  } catch (error) {
    return reportOf(error);
  }
}

function reportOf(error: unknown): CheckReport {
  if (error instanceof InputRejection) return { fields: error.fields };
  if (error instanceof RouterError) return { detail: error.publicDetail };
  return { bug: String(error) };
}

const models = new Map<string, { json: string; model: Model }>();

/** The same model as it came before, if it did: its compiled schema hangs on the object. */
function known({ id, json }: ModelText): Model {
  const before = models.get(id);
  if (before?.json === json) return before.model;
  const model = JSON.parse(json) as Model;
  models.set(id, { json, model });
  return model;
}
