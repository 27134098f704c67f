import type { ErrorReply } from '#errors';
import { type Json, type JsonPointer, membersOf, placesOf, textAt, valueAt } from '#schemas';
import type {
  FailureClass,
  Handle,
  HttpCall,
  HttpReply,
  Outcome,
  ProviderAdapter,
  ProviderFailure,
  Run,
  Signal,
  SubmittedRun,
  Surprise,
} from './contract.js';
import { faultFailure, statusFailure, unreadable } from './failure.js';
import { type Encoding, fileForm, isNull, jsonBody } from './encodings.js';
import { fieldErrors, publicBody } from './fields.js';
import { fileUses, withUploads } from './input-files.js';
import type { CancelRule, HandleFields, JobSpec, RunStatus } from './job-spec.js';
import { handleVersion, keep, keptIn, type Readable, upstream, wordsAt } from './kept-handle.js';
import {
  isEmpty,
  isExpectedFile,
  isReply,
  isSuccess,
  jsonOf,
  markedJsonOf,
  outputOf,
  retryAfterMs,
  secondsMs,
} from './reply.js';
import type { AccountTrouble, Condition, Phase } from './condition.js';
import { meaningOf } from './reply-words.js';
import { accountRules, holds, holdsAnything, holdsResult, type Rule } from './rules.js';
import { unknownError, unknownStatus } from './surprise.js';
import { streamRequest } from './stream-request.js';
import {
  arrivedStream,
  isEventStream,
  streamOutcome,
  streamRecord,
  writtenTokens,
} from './streamed-reply.js';
import { exactOrigin, isCallableUrl } from './trusted-origins.js';

/** An adapter from a provider's declaration; see `JobSpec` for the protocols it covers. */
export function job<const F extends HandleFields = HandleFields>(spec: JobSpec<F>): ProviderAdapter {
  const { base, submit = {}, poll, fetch, cancel } = spec;
  const { base64 = [], upload } = submit;
  const takesFiles =
    [submit.encode, submit.variant?.encode].some((encode) => encode?.filePlaces) ||
    base64.length > 0 ||
    upload !== undefined;
  const credentialOrigins = [...(spec.credentialOrigins ?? []), exactOrigin(base)];
  const callable = (url: string) => isCallableUrl(url, base, credentialOrigins);
  const { uniqueHeader, view = jsonOf } = spec;
  const unique = (call: HttpCall | undefined) => call && { ...call, uniqueHeader };
  const account = spec.account ? accountRules(spec.account) : [];
  const statuses = new Map(Object.entries(poll?.statuses ?? {}).map(([word, is]) => [folded(word), is]));

  function read(phase: Phase, signal: Signal): Readable | Outcome {
    if (!isReply(signal)) return failed(faultFailure(phase, signal));
    const file = spec.fileResults && isExpectedFile(signal);
    const json = file ? undefined : view(signal);
    const rule = meaningOf(account, spec.rules, phase, signal, json);
    if (rule?.class === 'canceled') return { kind: 'canceled' };
    const failure = rule
      ? ruleFailure(phase, rule, rule.class, signal)
      : isSuccess(signal)
        ? undefined
        : statusFailure(phase, signal, submit.retryStatuses);
    if (failure) {
      // Callers see fields only for rejected inputs.
      const told = spec.view ? json : markedJsonOf(signal);
      const fields = failure.class === 'rejected_input' ? fieldErrors(told, spec.fields) : undefined;
      const surprise = rule
        ? undefined
        : unknownError(phase, signal, json, { ...failure, fields, listed: submit.retryStatuses ?? [] });
      const reply = errorReply(failure, signal, told);
      return failed({ ...failure, afterMs: waitOf(failure, signal, json), fields, reply }, surprise);
    }
    if (json === undefined && !file) return surprised('unreadable', unreadable(phase, notJson));
    return { reply: signal, json };
  }

  /** The wait requested by a provider that did not accept the call. */
  function waitOf({ retry }: ProviderFailure, reply: HttpReply, json: Json | undefined): number | undefined {
    if (retry === 'never') return undefined;
    return retryAfterMs(reply) ?? (spec.retryAfter && secondsMs(valueAt(json, spec.retryAfter)));
  }

  /**
   * A reply in a good state is the result, whatever it contains: the provider bills it. Where files and other values are
   * looked for decides only what is billed.
   */
  function succeeded(phase: Phase, { reply, json }: Readable, assets: Places = []): Outcome {
    if (isEmpty(reply))
      return surprised('unreadable', { ...unreadable(phase, 'nothing'), ...onceMore(phase) });
    const known = (conditions: Condition | readonly Condition[]) =>
      [conditions].flat().every((condition) => holds(condition, phase, reply, json));
    if (spec.successWhen && !spec.successWhen.some(known))
      return surprised('unknown_status', noSuccess(`${phase} answered a state that is not a success`));
    const output = outputOf(reply);
    if (json === undefined) return { kind: 'succeeded', output };
    if (spec.resultPaths?.length === 0)
      return surprised('unreadable', { ...unreadable(phase, 'JSON in place of a file'), retry: 'never' });
    const places = resultPlaces(spec.resultPaths, assets);
    if (places.length === 0 || holdsResult(reply, json, places)) return { kind: 'succeeded', output };
    // A provider that names no state also reports errors that its declaration does not know.
    const namesState = spec.successWhen !== undefined || phase !== 'submit';
    if (!namesState && holdsAnything(json, '/error'))
      return failed(noSuccess(`${phase} answered an error without a result`));
    return { kind: 'succeeded', output, lacksFiles: true, surprise: noFiles(phase) };
  }

  /** The URL and the encoding for this input. */
  function formOf(run: Run): { url: string; encode?: Encoding | undefined } {
    const { variant } = submit;
    const url = variant && holdsOneOf(variant.contains, run) ? variant.url(run) : undefined;
    if (variant && url !== undefined) return { url, encode: variant.encode };
    return { url: submit.url?.(run) ?? `${base}/${upstream(run, 'path')}`, encode: submit.encode };
  }

  const adapter: ProviderAdapter = {
    credentialOrigins,
    assetsNeedKey: spec.assetsNeedKey,
    assetsFromBase: spec.assetsFromBase,
    exchange: spec.exchange,
    credential: (call, secret, nowMs) =>
      spec.auth?.(secret, nowMs, call) ?? { authorization: `Bearer ${secret}` },
    credentialQuery: spec.authQuery,
    ...(takesFiles && {
      files: (run) =>
        fileUses(run, {
          base64: [...base64.map(({ path }) => path), ...(formOf(run).encode?.filePlaces ?? [])],
          upload: upload?.paths ?? [],
        }),
    }),
    upload:
      upload &&
      (({ runId }) => ({
        call: (file) => ({
          method: 'POST',
          url: upload.url,
          uniqueHeader,
          ...fileForm(runId, upload.part, file),
        }),
        read: (signal) => {
          const reading = read('upload', signal);
          if ('kind' in reading) return { failure: failureOf(reading) };
          const { body } = reading.reply;
          const [place] = placesOf(body, [upload.id]);
          return place
            ? { id: textAt(body, place) }
            : { failure: unreadable('upload', 'without the id of the file') };
        },
      })),
    submit(given) {
      const stream = streamRequest(spec.stream, given);
      const run = stream?.run ?? given;
      const { url, encode } = formOf(run);
      const ready = upload ? withUploads(run, upload.paths) : run;
      const { contentType, ...sent } = encode?.(ready) ?? jsonBody(ready, base64);
      return {
        method: 'POST',
        url,
        headers: {
          'content-type': contentType,
          accept: stream ? 'text/event-stream' : 'application/json',
          ...submit.headers?.(run),
        },
        uniqueHeader,
        ...sent,
        ...(stream && { stream: stream.events }),
      };
    },
    readStream: (run, reply, hiddenTokens) =>
      spec.stream && streamsTo(run, reply) ? arrivedStream(spec.stream, reply, hiddenTokens) : undefined,
    writtenTokens: (_run, reply) =>
      spec.stream && isSuccess(reply) ? writtenTokens(spec.stream, reply) : undefined,
    streamRecord: (run, reply) =>
      spec.stream && streamsTo(run, reply) ? streamRecord(spec.stream, reply) : undefined,
    onSubmit(run, signal, assets) {
      if (spec.stream && isReply(signal) && streamsTo(run, signal))
        return streamOutcome(spec.stream, signal, (reply) => adapter.onSubmit(run, reply, assets));
      const reading = read('submit', signal);
      if ('kind' in reading) return reading;
      if (!spec.poll) return succeeded('submit', reading, assets);
      const kept = keep(spec.handle, reading, callable, run);
      if (!kept) return surprised('unreadable', unreadable('submit', 'without a usable handle'));
      return {
        kind: 'pending',
        handle: { v: handleVersion, step: 'poll', ...kept },
        afterMs: spec.poll.everyMs,
      };
    },
  };
  if (!poll) return adapter;

  const onPoll = (handle: Handle, signal: Signal, assets?: Places): Outcome => {
    const reading = read('poll', signal);
    if ('kind' in reading) return reading;
    const { reply, json } = reading;
    const words =
      poll.status === 'http' || json === undefined ? [String(reply.status)] : wordsAt(json, poll.status);
    const found = words.length === 0 ? [statuses.get('')] : words.map((word) => statuses.get(folded(word)));
    switch (together(found)) {
      case 'succeeded':
        return fetch ? ended(handle, reading) : succeeded('poll', reading, assets);
      case 'failed':
        return failed(noSuccess(`poll answered ${words.join(', ')}`));
      case 'canceled':
        return { kind: 'canceled' };
      default:
        return {
          kind: 'pending',
          handle,
          afterMs: poll.everyMs,
          progress: poll.progress && shareAt(json, poll.progress),
          ...(found.includes(undefined) && { surprise: unknownStatus('poll', words) }),
        };
    }
  };
  const ended = (handle: Handle, reading: Readable): Outcome => {
    const kept = keep(spec.handle, reading, callable);
    return kept
      ? { kind: 'next', handle: { ...handle, ...kept, step: 'fetch' } }
      : { kind: 'succeeded', output: outputOf(reading.reply), lacksFiles: true, surprise: noFiles('poll') };
  };
  const onFetch = (signal: Signal, assets?: Places): Outcome => {
    const reading = read('fetch', signal);
    return 'kind' in reading ? reading : succeeded('fetch', reading, assets);
  };
  return {
    ...adapter,
    resume: (handle) => ({
      ...(handle.step === 'fetch' && fetch ? fetch : poll).call(keptIn<F>(handle)),
      uniqueHeader,
    }),
    onResume: (handle, signal, assets) =>
      handle.step === 'fetch' ? onFetch(signal, assets) : onPoll(handle, signal, assets),
    cancel: cancel && ((handle) => unique(cancel.call(keptIn<F>(handle)))),
    onCancel: cancel && ((_handle, signal) => cancelAnswer(cancel.replies, signal)),
  };
}

type Places = readonly string[];

const streamsTo = ({ streams }: SubmittedRun, reply: HttpReply): boolean =>
  streams === true && isEventStream(reply);

const holdsOneOf = (members: readonly string[], { body }: Run): boolean =>
  membersOf(body).some((member) => members.includes(member.name) && !isNull(body, member));

/** The result is already paid for, so a poll or fetch is repeated: it may bring the result next time. */
const onceMore = (phase: Phase): Pick<ProviderFailure, 'retry' | 'capped'> =>
  phase === 'submit' ? { retry: 'never' } : { retry: 'same_call', capped: true };

const notJson = 'something that is not JSON';

const failed = (failure: ProviderFailure, surprise?: Surprise): Outcome => ({
  kind: 'failed',
  failure,
  ...(surprise && { surprise }),
});

/** A failure that the declaration does not expect. */
const surprised = (kind: Surprise['kind'], failure: ProviderFailure): Outcome =>
  failed(failure, { kind, note: `The reply to ${failure.note?.replace(' answered', ' was')}.` });

const noFiles = (phase: Phase): Surprise => ({
  kind: 'no_files',
  note: `The reply to ${phase} is a success with nothing at the places of its files.`,
});

/** The places of files, and of results that contain none of the files. */
function resultPlaces(places: JobSpec<HandleFields>['resultPaths'], assets: Places): Places {
  if (places === 'assets') return assets.length > 0 ? assets : ['/*'];
  const isOfAsset = (place: string) =>
    assets.some((asset) => asset === place || asset.startsWith(`${place}/`));
  return [...assets, ...(places ?? []).filter((place) => !isOfAsset(place))];
}

const noSuccess = (note: string): ProviderFailure => ({ class: 'provider_failed', retry: 'never', note });

const busy: readonly number[] = [429, 503, 529];

/** The part of a refusal that the provider's own clients can read in their own way. */
function errorReply(
  { class: failureClass, retry }: ProviderFailure,
  { status }: HttpReply,
  json: Json | undefined,
): ErrorReply | undefined {
  if (status < 400) return undefined;
  // Another status that means the same may tell of our account.
  if (failureClass === 'provider_unavailable' && retry === 'new_submit')
    return { status: busy.includes(status) ? status : 429 };
  const isVerdict = failureClass === 'rejected_input' || failureClass === 'content_policy';
  const body = isVerdict ? publicBody(json) : undefined;
  return body === undefined ? undefined : { status, body };
}

/** The failure in the reply to an upload. */
const failureOf = (outcome: Outcome): ProviderFailure =>
  outcome.kind === 'failed' ? outcome.failure : noSuccess(`upload answered ${outcome.kind}`);

function ruleFailure(
  phase: Phase,
  { retry = 'never', account, path, header, equals, matches }: Rule,
  failureClass: FailureClass,
  { status }: HttpReply,
): ProviderFailure {
  const startsNothing = phase === 'poll' || phase === 'fetch';
  const goesOn = retry === 'not_accepted' || (startsNothing && retry !== 'never');
  return {
    class: failureClass,
    ...(failureClass === 'provider_account' && { account: account ?? accountOfRule(status) }),
    retry: !goesOn ? 'never' : startsNothing ? 'same_call' : 'new_submit',
    ...(startsNothing && retry === 'capped' && { capped: true as const }),
    note: `${phase} answered HTTP ${status}, ${[path ?? header ?? 'any body'].flat().join(' or ')} is ${matches?.toString() ?? equals ?? 'set'}`,
  };
}

/** The account problem of a reply that a rule of the provider reads as one. */
const accountOfRule = (status: number): AccountTrouble =>
  status === 401 || status === 403 ? 'key' : 'balance';

/** The status of a run with several parts: it runs until all have finished, and one success is a result. */
function together(parts: readonly (RunStatus | undefined)[]): RunStatus {
  const [first = 'running'] = parts;
  if (!parts.every(isOver)) return 'running';
  return parts.includes('succeeded') ? 'succeeded' : first;
}

const isOver = (status: RunStatus | undefined): boolean =>
  status !== undefined && status !== 'queued' && status !== 'running';

/** Progress from 0 to 1; undefined if it is out of range, and for 0, which says nothing. */
function shareAt(
  json: Json | undefined,
  { path, max }: { path: JsonPointer; max: number },
): number | undefined {
  const share = Number(valueAt(json, path)) / max;
  return share > 0 && share <= 1 ? share : undefined;
}

/** Some providers are inconsistent about case and white space. */
const folded = (word: string): string => word.trim().toLowerCase();

function cancelAnswer(replies: readonly CancelRule[], signal: Signal): 'requested' | 'too_late' | 'unknown' {
  if (!isReply(signal)) return 'unknown';
  const json = jsonOf(signal) ?? null;
  const rule = replies.find(
    ({ http, path, equals }) =>
      (http === undefined || http === signal.status) && (!path || valueAt(json, path) === equals),
  );
  return rule?.answer ?? (isSuccess(signal) ? 'requested' : 'unknown');
}
