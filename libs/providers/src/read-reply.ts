import {
  type Json,
  pointerFrom,
  pointerSegments,
  type ReportedTerm,
  valueAt,
  valuesAt,
  wholeMicros,
} from '#schemas';
import type { Handle, HttpReply, Outcome, ProviderAdapter, Signal, SubmittedRun } from './contract.js';
import { isFile, isReply, isSuccess, jsonOf } from './reply.js';

/** Places in replies, from the model's row: the reported cost, and the output files. */
export interface RowOfReplies {
  reported: readonly ReportedTerm[];
  assets: readonly string[];
}

/** The call that a reply answers. */
export type Asked = RowOfReplies &
  (
    | {
        phase: 'submit';
        run: SubmittedRun;
        /** How many tokens the model of an event stream has written at least in the time of the call. */
        hiddenTokens?: number;
        /** Where the events of a stream tell the calls of tools, with their fee. */
        calls?: readonly ReportedTerm[] | undefined;
      }
    | { phase: 'resume'; handle: Handle }
  );

/** The meaning of a reply for the run, and the cost that it reports. */
export interface ReadReply {
  outcome: Outcome;
  reportedMicros?: number | undefined;
  /** The tokens that the model of a text run wrote, by the final usage. */
  writtenTokens?: number | undefined;
  /** Present if the reply is an event stream. */
  arrived?: {
    /** The tokens that the model wrote, estimated. */
    tokens: number;
    /** Their cost with everything that was reported before the final usage. Absent if nothing was, and with the final one. */
    micros?: number | undefined;
    /** The fees of tools that were called. */
    callMicros?: number;
  };
}

export function readReply(adapter: ProviderAdapter, asked: Asked, signal: Signal): ReadReply {
  const outcome = outcomeOf(adapter, asked, signal);
  if (asked.phase === 'resume' || !isReply(signal))
    return { outcome, reportedMicros: reportedMicros(asked.reported, signal) };
  const { run, reported, hiddenTokens = 0, calls = [] } = asked;
  const stream = adapter.readStream?.(run, signal, hiddenTokens);
  const reply = stream?.reply ?? signal;
  if (stream && !stream.hasUsage) {
    // Fees are counted on their own, because a part of the reply may not tell them in the same way.
    const micros = reportedMicros(
      reported.filter((term) => !('count' in term && term.optional)),
      reply,
    );
    const callMicros = reportedMicros(calls, reply) ?? 0;
    return {
      outcome,
      arrived: { tokens: stream.arrivedTokens, micros, ...(callMicros > 0 && { callMicros }) },
    };
  }
  const writtenTokens = adapter.writtenTokens?.(run, reply);
  return {
    outcome,
    reportedMicros: reportedMicros(reported, reply),
    ...(writtenTokens !== undefined && { writtenTokens }),
    ...(stream && { arrived: { tokens: stream.arrivedTokens } }),
  };
}

/** Whether a success of this call is the result itself rather than a status report. */
export const isResult = (adapter: ProviderAdapter, asked: Asked, reply: HttpReply): boolean =>
  isSuccess(reply) &&
  (asked.phase === 'submit' ? adapter.resume === undefined : asked.handle.step === 'fetch');

function outcomeOf(adapter: ProviderAdapter, asked: Asked, signal: Signal): Outcome {
  if (asked.phase === 'submit') return adapter.onSubmit(asked.run, signal, asked.assets);
  if (!adapter.onResume) throw new Error('the provider has nothing to poll');
  return adapter.onResume(asked.handle, signal, asked.assets);
}

/** The cost that the reply reports, in micro-dollars; undefined if the report is incomplete. */
export function reportedMicros(terms: readonly ReportedTerm[], signal: Signal): number | undefined {
  if (!isReply(signal)) return undefined;
  const units = terms.map((term) => unitsOf(term, signal));
  if (units.every((count) => count === undefined)) return undefined;
  if (terms.some(({ optional }, index) => !optional && units[index] === undefined)) return undefined;
  if (terms.some((term) => isKindUnknown(term, terms, units))) return undefined;
  const micros = wholeMicros(terms.reduce((sum, term, index) => sum + term.micros * (units[index] ?? 0), 0));
  return micros < Number.MAX_SAFE_INTEGER ? micros : undefined;
}

/** If a price is split by kind, such as cached and other tokens, the reply must report at least one kind. */
function isKindUnknown(
  term: ReportedTerm,
  terms: readonly ReportedTerm[],
  units: readonly (number | undefined)[],
): boolean {
  const at = placeOfKinds(term);
  const kinds = units.filter((_, index) => at !== undefined && placeOfKinds(terms[index]) === at);
  return kinds.length > 1 && kinds.every((count) => count === undefined);
}

const placeOfKinds = (term: ReportedTerm | undefined): string | undefined =>
  term && 'at' in term && term.only ? term.at : undefined;

function unitsOf(term: ReportedTerm, reply: HttpReply): number | undefined {
  if ('header' in term) return numberOf(reply.headers[term.header]);
  // A file has no JSON, and a stored reply has no body here.
  const json = isFile(reply) || reply.storedAs !== undefined ? undefined : jsonOf(reply);
  if ('count' in term) return countOf(json, term);
  const sum = sumOf(valuesAtTerm(json, term));
  if (sum === undefined) return undefined;
  const { when, minus, only } = term;
  const deciding = when
    ? [when.at, ...(when.plus ?? [])].reduce((total, at) => total + (numberOf(valueAt(json, at)) ?? 0), 0)
    : 0;
  if (when && (deciding <= (when.above ?? -1) || deciding > (when.up_to ?? Infinity))) return 0;
  if (minus === undefined) return sum;
  const billedElsewhere = sumOf(valuesAtTerm(json, { at: minus, ...(minus.includes('*') && { only }) }));
  return Math.max(0, sum - (billedElsewhere ?? 0));
}

/** Undefined if nothing is at the place. */
function countOf(
  json: Json | undefined,
  { count, only = {}, most = Infinity }: Extract<ReportedTerm, { count: string }>,
): number | undefined {
  const found = valuesAt(json, count).filter((value) => count.includes('*') || Array.isArray(value));
  const counted = new Set(found.flat().filter((value) => value !== '' && hasValues(value, only)));
  return found.length === 0 ? undefined : Math.min(counted.size, most);
}

const hasValues = (object: Json, only: Record<string, unknown>): boolean =>
  Object.entries(only).every(([name, value]) => valueAt(object, pointerFrom([name])) === value);

/** Undefined if there are no values, or if one of them is not a number. */
function sumOf(values: readonly Json[]): number | undefined {
  const numbers = values.map(numberOf).filter((number) => number !== undefined);
  return numbers.length === 0 || numbers.length < values.length
    ? undefined
    : numbers.reduce((one, other) => one + other);
}

/** With `only`, just the values from objects that have its values. */
function valuesAtTerm(
  json: Json | undefined,
  { at, only }: { at: string; only?: Record<string, unknown> | undefined },
): Json[] {
  if (only === undefined) return valuesAt(json, at);
  const path = pointerSegments(at);
  return valuesAt(json, pointerFrom(path.slice(0, -1)))
    .filter((object) => hasValues(object, only))
    .flatMap((object) => valuesAt(object, pointerFrom(path.slice(-1))));
}

/** Providers write amounts as numbers or as strings such as "12.5". */
function numberOf(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
  return typeof number === 'number' && number >= 0 ? number : undefined;
}
