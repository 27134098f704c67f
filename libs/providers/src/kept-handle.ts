import { type Json, type JsonPointer, placesOf, textAt, valueAt, valuesAt } from '#schemas';
import type { Handle, HttpReply, SubmittedRun } from './contract.js';
import type { HandleFields, Kept } from './job-spec.js';

export const handleVersion = 1;

/** A successful reply. `json` is undefined if the body is the output file itself. */
export interface Readable {
  reply: HttpReply;
  json: Json | undefined;
}

/** One entry of the model row's `upstream`. Throws if it is missing, because rows are checked before they are used. */
export function upstream(run: SubmittedRun, name: string): string {
  const value = run.upstream[name];
  if (value === undefined) throw new Error(`model ${run.model} has no upstream ${name}`);
  return value;
}

const wordOf = (value: Json | undefined): string =>
  typeof value === 'object' || value === undefined ? '' : String(value);

export const wordsAt = (json: Json, pointer: JsonPointer): string[] => valuesAt(json, pointer).map(wordOf);

/** The value as text. An integer beyond 2^53 keeps its original digits: a rounded value would identify another run. */
function exactAt(json: Json, pointer: JsonPointer, { body }: HttpReply): string {
  const value = valueAt(json, pointer);
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return wordOf(value);
  const written = placesOf(body, [pointer]).map((place) => textAt(body, place));
  return written.findLast((digits) => /^-?\d+$/.test(digits) && Number(digits) === value) ?? wordOf(value);
}

/**
 * The handle's values from the submission if `run` is given, otherwise the values that a poll adds. Undefined if a
 * required value is missing or is a URL that may not be called.
 */
export function keep(
  fields: HandleFields | undefined,
  { reply, json }: Readable,
  callable: (url: string) => boolean,
  run?: SubmittedRun,
): Record<string, string> | undefined {
  const kept: Record<string, string> = {};
  for (const [name, field] of Object.entries(fields ?? {})) {
    if ('upstream' in field) {
      if (run) kept[name] = upstream(run, field.upstream);
      continue;
    }
    if ((field.polled ?? false) === (run !== undefined)) continue;
    const text = json === undefined ? '' : exactAt(json, field.path, reply);
    if (text !== '' && (!field.url || callable(text))) kept[name] = text;
    else if (!field.optional) return undefined;
  }
  return kept;
}

/**
 * Does not parse again, because the values were parsed when they were saved. Throws if another release wrote the handle
 * in a different version.
 */
export function keptIn<F extends HandleFields>(handle: Handle): Kept<F> {
  if (handle.v !== handleVersion) throw new Error(`handle version ${handle.v} is not ${handleVersion}`);
  return handle as unknown as Kept<F>;
}
