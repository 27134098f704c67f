import { essenceOf } from '#schemas';
import type { ArrivedStream, HttpReply, Outcome, ProviderFailure } from './contract.js';
import { type FoldedEvents, foldEvents, type StreamSpec } from './event-fold.js';
import { jsonReply } from './reply.js';

const foldedReplies = new WeakMap<HttpReply, FoldedEvents>();

/** The events of a reply, cached. */
function folded(spec: StreamSpec, reply: HttpReply): FoldedEvents {
  const events = foldedReplies.get(reply) ?? foldEvents(spec, reply);
  foldedReplies.set(reply, events);
  return events;
}

export const isEventStream = (reply: HttpReply): boolean =>
  reply.status === 200 && essenceOf(reply.headers['content-type']) === 'text/event-stream';

/** The usage and the length of what an event stream brought. */
export function arrivedStream(spec: StreamSpec, reply: HttpReply): ArrivedStream {
  const { document, hasUsage, characters } = folded(spec, reply);
  return {
    usage: hasUsage ? jsonReply(reply, document) : undefined,
    arrivedTokens: Math.ceil(characters / 4),
  };
}

/** The outcome of an event stream. `read` reads the same reply without a stream. */
export function streamOutcome(
  spec: StreamSpec,
  reply: HttpReply,
  read: (reply: HttpReply) => Outcome,
): Outcome {
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
