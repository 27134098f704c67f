import { buckets, type FieldError } from '#errors';
import type { AccountTrouble, Phase } from './condition.js';
import {
  type FailureClass,
  failureClasses,
  type Fault,
  type HttpReply,
  type ProviderFailure,
} from './contract.js';

/**
 * The answer for the caller of a failed run. `fields` is present exactly if `status` is 422, and never empty: a rejected
 * input without a known field gets one entry about the whole body.
 */
export function toRejection({ class: failureClass, fields = [] }: ProviderFailure) {
  const { bucket, publicDetail: detail } = failureClasses[failureClass];
  if (bucket !== 'invalid_input') return { bucket, status: buckets[bucket].status, detail };
  const whole: FieldError = { loc: ['body'], msg: detail, type: 'bad_request' };
  return { bucket, status: 422, detail, fields: fields.length > 0 ? fields : [whole] };
}

/** Statuses that do not end a run, because the next poll or fetch may succeed. */
const passing = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;

/** A problem with our key or balance, which may be fixed while the run continues. */
const isOfAccount = (status: number): boolean => [401, 402, 403].includes(status);

/** The account problem that a status reports by itself. A 403 may concern one model or one input. */
const accountOf: Readonly<Record<number, AccountTrouble>> = { 401: 'key', 402: 'balance' };

/** Any other status is a failure of the provider. */
const classes: Readonly<Record<number, FailureClass>> = {
  400: 'rejected_input',
  401: 'provider_account',
  402: 'provider_account',
  403: 'provider_account',
  408: 'provider_timeout',
  413: 'rejected_input',
  415: 'rejected_input',
  422: 'rejected_input',
  425: 'provider_unavailable',
  429: 'provider_unavailable',
  503: 'provider_unavailable',
  504: 'provider_timeout',
  529: 'provider_unavailable',
};

/** Whether the status itself has a meaning. */
export const isListedStatus = (status: number): boolean =>
  status === 404 || status >= 500 || classes[status] !== undefined;

const classOf = (status: number): FailureClass => classes[status] ?? 'provider_failed';

const readStatus: Record<Phase, (status: number, retryStatuses: readonly number[]) => ProviderFailure> = {
  // An upload starts nothing, so it may be repeated. A rejected file is a rejected input.
  upload: (status) => ({ class: classOf(status), retry: passing(status) ? 'new_submit' : 'never' }),
  // Unless it was clearly rejected, the submission may have been accepted, and a second one would be billed again.
  submit(status, retryStatuses) {
    if (status === 404) return { class: 'model_gone', retry: 'never' };
    if (status === 429 || retryStatuses.includes(status)) {
      return { class: 'provider_unavailable', retry: 'new_submit' };
    }
    // "Try again later" would free the caller's idempotency key, and a second run could be billed again.
    const failure = classOf(status);
    return { class: failure === 'provider_unavailable' ? 'provider_failed' : failure, retry: 'never' };
  },
  // A failed poll says nothing about the run: it may still complete, and then it is billed.
  poll: (status) =>
    passing(status) || isOfAccount(status)
      ? { class: classOf(status), retry: 'same_call' }
      : { class: 'provider_failed', retry: 'same_call', ...(status >= 400 && { capped: true as const }) },
  // The run has ended and the reply is its outcome, so any other 4xx is final.
  fetch(status) {
    if (passing(status) || isOfAccount(status)) return { class: classOf(status), retry: 'same_call' };
    if (status === 404) return { class: 'provider_failed', retry: 'same_call', capped: true };
    return { class: classOf(status), retry: 'never' };
  },
};

/**
 * The meaning of a reply other than 2xx that no rule of the provider covers. `retryStatuses` mean that the provider did
 * not accept the submission.
 */
export function statusFailure(
  phase: Phase,
  { status }: HttpReply,
  retryStatuses: readonly number[] = [],
): ProviderFailure {
  const account = accountOf[status];
  return {
    ...readStatus[phase](status, retryStatuses),
    ...(account && { account }),
    note: `${phase} answered HTTP ${status}`,
  };
}

/** The meaning of a missing or unusable reply. */
export function faultFailure(phase: Phase, signal: Fault): ProviderFailure {
  const again = { upload: 'new_submit', submit: 'never', poll: 'same_call', fetch: 'same_call' } as const;
  const isBeforeHandle = phase === 'upload' || phase === 'submit';
  switch (signal.fault) {
    case 'not_sent': {
      const note = `${phase} was not sent: ${signal.cause}`;
      // The guard will keep rejecting this address, so there is no point in polling it until the budget ends.
      if (signal.cause === 'refused_address' && !isBeforeHandle)
        return { class: 'provider_failed', retry: 'same_call', capped: true, note };
      const isRefused = signal.cause === 'token_refused';
      return {
        class: isRefused ? 'provider_account' : 'provider_unavailable',
        ...(isRefused && { account: 'key' as const }),
        retry: !isBeforeHandle ? 'same_call' : isRefused ? 'never' : 'new_submit',
        note,
      };
    }
    case 'ambiguous':
      return {
        class: signal.cause === 'timeout' ? 'provider_timeout' : 'provider_failed',
        retry: again[phase],
        note: `${phase} got no answer: ${signal.cause}`,
      };
    case 'oversize':
      // Progress reports are small, so the oversized reply is the result, and it will not shrink.
      return { class: 'unreadable', retry: 'never', note: `the reply to ${phase} exceeded the size cap` };
  }
}

/** The meaning of a 2xx reply that cannot be read. Only a poll is worth repeating. */
export const unreadable = (phase: Phase, why: string): ProviderFailure => ({
  class: 'unreadable',
  retry: phase === 'poll' ? 'same_call' : 'never',
  note: `${phase} answered ${why}`,
});
