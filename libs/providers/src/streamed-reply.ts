import { essenceOf, type Json, pointerFrom, pointerSegments, valueAt } from '#schemas';
import type {
  ArrivedStream,
  FoldedEvents,
  HttpReply,
  Outcome,
  ProviderFailure,
  StreamRecord,
} from './contract.js';
import { documentOf, foldEvents, type StreamSpec } from './event-fold.js';
import { isObject } from './fields.js';
import { isReply, isSuccess, jsonOf, jsonReply } from './reply.js';

const foldedReplies = new WeakMap<HttpReply, FoldedEvents>();

/** The events of a reply, cached. */
function folded(spec: StreamSpec, reply: HttpReply): FoldedEvents {
  const events = reply.left ?? foldedReplies.get(reply) ?? foldEvents(spec, reply);
  foldedReplies.set(reply, events);
  return events;
}

export const isEventStream = (reply: HttpReply): boolean =>
  reply.status === 200 && essenceOf(reply.headers['content-type']) === 'text/event-stream';

/** Tokens have about four bytes, in every script. */
const bytesPerToken = 4;

/** The usage that an event stream reported, and an estimate of what its model wrote. */
export function arrivedStream(spec: StreamSpec, reply: HttpReply, hiddenTokens: number): ArrivedStream {
  const { document, hasUsage, writtenBytes, isComplete, error } = folded(spec, reply);
  // A provider that broke off is trusted with nothing but what arrived.
  const isBroken = error !== undefined || (!isComplete && reply.cut !== 'cancelled');
  const arrivedTokens = Math.max(Math.ceil(writtenBytes / bytesPerToken), isBroken ? 0 : hiddenTokens);
  const reported = hasUsage ? document : withTokens(document, spec.writtenTokens, arrivedTokens);
  return { reply: jsonReply(reply, reported), hasUsage, arrivedTokens };
}

/** The tokens that the model wrote, seen or not, by the usage of a reply without a stream. */
export function writtenTokens(spec: StreamSpec, reply: HttpReply): number | undefined {
  const tokens = tokensAt(jsonOf(reply) ?? null, spec.writtenTokens);
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined;
}

const tokensAt = (document: Json, places: StreamSpec['writtenTokens']): number =>
  places.reduce((sum, place) => sum + Number(valueAt(document, place) ?? 0), 0);

/** The document whose usage counts at least this number of written tokens. An early report has those of its own time. */
function withTokens(document: Json, places: StreamSpec['writtenTokens'], tokens: number): Json {
  const missing = tokens - tokensAt(document, places);
  const path = pointerSegments(places[0] ?? '');
  const name = path.pop();
  const copy = structuredClone(document);
  const usage = valueAt(copy, pointerFrom(path));
  if (name === undefined || !isObject(usage) || !(missing > 0)) return document;
  usage[name] = Number(usage[name] ?? 0) + missing;
  return copy;
}

/** The provider's record of a stream. */
export function streamRecord({ record, ...spec }: StreamSpec, reply: HttpReply): StreamRecord | undefined {
  const id = record && valueAt(folded(spec, reply).document, record.id);
  if (record === undefined || typeof id !== 'string') return undefined;
  return {
    call: record.call(id),
    read: (signal) => {
      if (!isReply(signal) || !isSuccess(signal)) return undefined;
      const values = record.usage.map(({ from, to }) => ({
        to,
        value: valueAt(jsonOf(signal), from) ?? null,
      }));
      return jsonReply(reply, documentOf(values));
    },
  };
}

/** The outcome of an event stream. `read` reads the same reply without a stream. */
export function streamOutcome(
  spec: StreamSpec,
  reply: HttpReply,
  read: (reply: HttpReply) => Outcome,
): Outcome {
  if (reply.left) return { kind: 'canceled' };
  const { error, isComplete, document } = folded(spec, reply);
  if (error) return withoutRetry(read({ ...jsonReply(reply, error.body), status: error.status }));
  if (isComplete) return withoutRetry(withEvents(read(jsonReply(reply, document)), reply));
  if (reply.cut === 'cancelled') return { kind: 'canceled' };
  return { kind: 'failed', failure: { ...brokenOff(reply.cut), retry: 'never' } };
}

function withEvents(outcome: Outcome, { headers, body, passedOn }: HttpReply): Outcome {
  const mediaType = headers['content-type'] ?? 'text/event-stream';
  return outcome.kind === 'succeeded'
    ? { ...outcome, output: { mediaType, body: passedOn ?? body } }
    : outcome;
}

/** The model has started and the caller has read events, so the call must not be repeated. */
function withoutRetry(outcome: Outcome): Outcome {
  if (outcome.kind !== 'failed') return outcome;
  const { afterMs: _afterMs, ...failure } = outcome.failure;
  // "Try again later" would free the caller's idempotency key, and a second run could be billed again.
  const isUnavailable = failure.class === 'provider_unavailable';
  return {
    ...outcome,
    failure: { ...failure, retry: 'never', ...(isUnavailable && { class: 'provider_failed' as const }) },
  };
}

function brokenOff(cut: HttpReply['cut']): Pick<ProviderFailure, 'class' | 'note'> {
  switch (cut) {
    case 'timeout':
      return { class: 'provider_timeout', note: 'the stream stopped before its end' };
    case 'oversize':
      return { class: 'unreadable', note: 'the stream exceeded the size cap' };
    default:
      return { class: 'provider_failed', note: 'the stream broke off before its end' };
  }
}
