import type {
  Handle,
  HttpReply,
  Json,
  Outcome,
  ProviderAdapter,
  ProviderFailure,
  Signal,
} from './contract.js';
import { faultFailure, statusFailure, unreadable } from './defaults.js';
import { fieldErrors } from './fields.js';
import type { CancelRule, HandleFields, JobSpec, Kept } from './job-spec.js';
import { type Pointer, valueAt } from './pointer.js';
import { isReply, isSuccess, jsonOf, outputOf, textOf } from './reply.js';
import { isCallableUrl } from './reply-url.js';
import { firstRule, type Phase } from './rules.js';
import { digitsOf } from './whole-number.js';

const handleVersion = 1;

type Readable = { reply: HttpReply; json: Json };

/** An adapter from a partner's declaration; see `JobSpec` for the protocols it covers. */
export function job<const F extends HandleFields = HandleFields>(spec: JobSpec<F>): ProviderAdapter {
  const { poll, fetch, cancel } = spec;

  function read(phase: Phase, signal: Signal): Readable | Outcome {
    if (!isReply(signal)) return failed(faultFailure(phase, signal));
    const json = jsonOf(signal);
    const rule = firstRule(spec.rules, phase, signal, json);
    if (rule?.class === 'canceled') return { kind: 'canceled' };
    if (rule) {
      const { class: is, retry = 'never', lost } = rule;
      const note = `${phase} answered HTTP ${signal.status}, ${rule.where ?? 'any body'} is ${rule.is ?? 'set'}`;
      return failed({ class: is, retry, ...(lost && { lost }), ...fieldsOf(is, json), note });
    }
    if (!isSuccess(signal)) {
      const failure = statusFailure(phase, signal, spec.submit.refusals);
      return failed({ ...failure, ...fieldsOf(failure.class, json) });
    }
    return json === undefined
      ? failed(unreadable(phase, 'something that is not JSON'))
      : { reply: signal, json };
  }

  const adapter: ProviderAdapter = {
    credentialOrigins: spec.credentialOrigins,
    credential: (_call, secret, nowMs) => spec.auth(secret, nowMs),
    submit: (run) => ({
      method: 'POST',
      url: spec.submit.url(run),
      headers: { 'content-type': 'application/json', accept: 'application/json', ...spec.submit.headers },
      body: run.body,
    }),
    onSubmit(_run, signal) {
      const reading = read('submit', signal);
      if ('kind' in reading) return reading;
      if (!spec.poll) return { kind: 'succeeded', output: outputOf(reading.reply) };
      const kept = keep(spec.handle, reading, spec.base);
      if (!kept) return failed(unreadable('submit', 'without a usable handle'));
      return {
        kind: 'pending',
        handle: { v: handleVersion, step: 'poll', ...kept },
        afterMs: spec.poll.everyMs,
      };
    },
  };
  if (!poll) return adapter;

  const onPoll = (handle: Handle, signal: Signal): Outcome => {
    const reading = read('poll', signal);
    if ('kind' in reading) return reading;
    const word = wordAt(reading.json, poll.status);
    switch (Object.hasOwn(poll.life, word) ? poll.life[word] : 'running') {
      case 'succeeded':
        if (fetch) return { kind: 'next', handle: { ...handle, step: 'fetch' } };
        if (poll.needs && valueAt(reading.json, poll.needs) == null) {
          return failed({ ...unreadable('poll', 'a success without its result'), retry: 'never' });
        }
        return { kind: 'succeeded', output: outputOf(reading.reply) };
      case 'failed':
        return failed({ class: 'partner_failed', retry: 'never', note: `poll answered ${word}` });
      case 'canceled':
        return { kind: 'canceled' };
      default:
        return { kind: 'pending', handle, afterMs: poll.everyMs };
    }
  };
  const onFetch = (signal: Signal): Outcome => {
    const reading = read('fetch', signal);
    return 'kind' in reading ? reading : { kind: 'succeeded', output: outputOf(reading.reply) };
  };
  return {
    ...adapter,
    resume: (handle) => (handle.step === 'fetch' && fetch ? fetch : poll).call(keptIn<F>(handle)),
    onResume: (handle, signal) => (handle.step === 'fetch' ? onFetch(signal) : onPoll(handle, signal)),
    ...(cancel && {
      cancel: (handle: Handle) => cancel.call(keptIn<F>(handle)),
      onCancel: (_handle: Handle, signal: Signal) => cancelAnswer(cancel.replies, signal),
    }),
  };
}

const failed = (failure: ProviderFailure): Outcome => ({ kind: 'failed', failure });

/** Only a rejected input has fields; what a partner says beside any other failure is not for callers. */
function fieldsOf(failureClass: string, json: Json | undefined): Pick<ProviderFailure, 'fields'> {
  const fields = failureClass === 'rejected_input' ? fieldErrors(json) : undefined;
  return fields ? { fields } : {};
}

function wordAt(json: Json, pointer: Pointer): string {
  const word = valueAt(json, pointer);
  return typeof word === 'object' || word === undefined ? '' : String(word);
}

function exactAt(json: Json, pointer: Pointer, reply: HttpReply): string {
  const value = valueAt(json, pointer);
  if (typeof value !== 'number') return wordAt(json, pointer);
  return digitsOf(value, pointer.slice(pointer.lastIndexOf('/') + 1), textOf(reply));
}

/** The handle's values, or undefined when a required one is missing or is no URL that may be called. */
function keep(
  fields: HandleFields,
  { reply, json }: Readable,
  base: string,
): Record<string, string> | undefined {
  const kept: Record<string, string> = {};
  for (const [name, field] of Object.entries(fields)) {
    const text = exactAt(json, field.at, reply);
    if (text !== '' && (!field.url || isCallableUrl(text, base))) kept[name] = text;
    else if (!field.optional) return undefined;
  }
  return kept;
}

/** Parsed when it was kept; a handle of another version was written by another release and is not guessed at. */
function keptIn<F extends HandleFields>(handle: Handle): Kept<F> {
  if (handle.v !== handleVersion) throw new Error(`handle version ${handle.v} is not ${handleVersion}`);
  return handle as unknown as Kept<F>;
}

function cancelAnswer(replies: readonly CancelRule[], signal: Signal): 'requested' | 'too_late' | 'unknown' {
  if (!isReply(signal)) return 'unknown';
  const json = jsonOf(signal) ?? null;
  const rule = replies.find(
    ({ http, where, is }) =>
      (http === undefined || http === signal.status) && (!where || valueAt(json, where) === is),
  );
  return rule?.answer ?? (isSuccess(signal) ? 'requested' : 'unknown');
}
