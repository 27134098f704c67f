import type { Attempt } from '#persistence';
import type { ProviderFailure, Signal } from '#providers';

/** How much of a reply is redacted. More than is shown, because redaction makes it shorter. */
const maxReadBytes = 8 * 1024;
/** No credential is longer. The end of a reply that was cut may hold a part of one, which nothing recognizes. */
const maxSecretLength = 512;

/** The fields in which providers name a call. */
const idHeaders = [
  'x-request-id',
  'request-id',
  'x-requestid',
  'x-amzn-requestid',
  'x-amz-request-id',
  'apim-request-id',
  'x-fal-request-id',
  'x-correlation-id',
  'x-trace-id',
  'trace-id',
  'x-tt-logid',
  'x-log-id',
  'x-cloud-trace-context',
  'cf-ray',
] as const;
const maxIdLength = 200;

const meanings = {
  rejected_input: 'The provider rejected the input',
  content_policy: 'The provider rejected the content under its content policy',
  provider_failed: 'The provider failed',
  provider_timeout: 'The provider did not answer in time',
  provider_unavailable: 'The provider could not be reached or is busy',
  provider_account: 'The provider rejected our key or account',
  model_gone: 'The provider does not serve this model',
  unreadable: 'The reply cannot be read as a result',
} as const satisfies Record<ProviderFailure['class'], string>;

/**
 * The attempt of a failed call. With `hasFallback`, a submission that may be repeated moves to the next server. With
 * `hasOtherKey`, one that may not is repeated with another key.
 */
export function failedCall(
  phase: Attempt['phase'],
  failure: ProviderFailure,
  { hasFallback = false, hasOtherKey = false } = {},
) {
  const moves = hasFallback && failure.retry === 'new_submit';
  const retry = moves ? 'next_server' : hasOtherKey ? 'new_submit' : failure.retry;
  return { phase, class: failure.class, retry, reading: readingOf(failure) } as const;
}

/** The meaning of a failed call, in one sentence. */
const readingOf = ({ class: failureClass, note }: ProviderFailure): string =>
  `${meanings[failureClass]}${note === undefined ? '' : ` (${note})`}.`;

/** Facts of the reply to show. Both are absent if there was none. */
export function replyFacts(signal: Signal): Pick<Attempt, 'status' | 'requestId' | 'reply'> {
  if ('fault' in signal) return {};
  return { status: signal.status, requestId: requestIdOf(signal.headers), reply: beginningOf(signal.body) };
}

export function requestIdOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const found = idHeaders.map((name) => headers[name]).find((id) => typeof id === 'string' && id !== '');
  return typeof found === 'string' ? found.slice(0, maxIdLength) : undefined;
}

/** The beginning of a body that is text; undefined for any other. */
function beginningOf(body: Uint8Array): string | undefined {
  const isCut = body.length > maxReadBytes;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body.subarray(0, maxReadBytes), {
      stream: isCut,
    });
    if (text.trim() === '' || text.includes('\0')) return undefined;
    return isCut ? text.slice(0, -maxSecretLength) : text;
  } catch {
    return undefined;
  }
}
