import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Submitted } from '../harness/caller.js';
import type { TestCaller } from '../harness/system-side.js';

/** One call of an application, and its result. */
export interface Call {
  caller: TestCaller;
  model: string;
  mode: 'queued' | 'sync' | 'stream';
  /** A caller without a key cannot retry after a lost connection. */
  key: string | undefined;
  prompt: string;
  /** The provider loses its own reply to the submission, so the outcome is unknown. */
  providerLosesReply: boolean;
  /** When the caller cancels its run, or leaves its stream. */
  cancelAfterMs: number | undefined;
  runId?: string;
  /** `collected`, an error type, `refused`, `left`, or `connection lost` for a caller without a key. */
  result?: string;
}

const streaming = 'openai/gpt-5.5';
const models = ['bfl/flux-2-pro', 'fal/flux-dev', 'openai/gpt-image-1-mini'];

/** Faults of providers, as the simulator's control tokens. */
// prettier-ignore
const providerFaults = [
  '429=1', '503=1', 'poll_500=2', 'poll_503=1', 'poll_reset=2', 'poll_html=1', 'poll_garbage=1', 'poll_429=1',
  'poll_truncated=1', 'result_503=1', 'result_reset=1', 'hang_poll=1', 'queued=2000', 'policy_output', 'policy_submit',
  'job_failed', 'field_error', '500_submit', 'asset_404', 'asset_slow', 'unknown_status', 'status_back',
  'cancel_ignored', 'cancel_too_late', 'reset_after_accept',
];

/** The nth call of a load; the same for the same random numbers. */
export function newCall(
  name: string,
  callers: readonly TestCaller[],
  chance: () => number,
  mix: { withFaults: boolean; withStreams: boolean },
): Call {
  const { withFaults, withStreams } = mix;
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  const [model, caller, mode] = [one(models), one(callers), chance() < 0.2 ? 'sync' : 'queued'] as const;
  const [takesMs, hasKey, hasFault, fault] = [
    500 + Math.floor(chance() * 2500),
    chance() < 0.9,
    chance() < 0.15,
    one(providerFaults),
  ];
  const cancelAfterMs = chance() < 0.04 ? chance() * 3000 : undefined;
  const tokens = [`takes=${takesMs}`, `tag=${caller.workspace}`, ...(withFaults && hasFault ? [fault] : [])];
  if (withStreams && chance() < 0.2) {
    const told = [`stream_reason=${takesMs}`, `tag=${caller.workspace}`];
    return {
      caller,
      model: streaming,
      mode: 'stream',
      key: hasKey ? name : undefined,
      prompt: `${name} ${told.map((token) => `[[sim:${token}]]`).join('')}`,
      providerLosesReply: false,
      cancelAfterMs: chance() < 0.3 ? Math.ceil(chance() * 3000) : undefined,
    };
  }
  return {
    caller,
    model,
    mode,
    key: hasKey ? name : undefined,
    prompt: `${name} ${tokens.map((token) => `[[sim:${token}]]`).join('')}`,
    providerLosesReply: withFaults && hasFault && fault === 'reset_after_accept',
    cancelAfterMs: mode === 'queued' ? cancelAfterMs : undefined,
  };
}

/**
 * Makes the call like an application with retries, until it has a result or `over`. Returns answers that no
 * router may give.
 */
export async function makeCall(call: Call, over: AbortSignal): Promise<string[]> {
  const strange: string[] = [];
  try {
    const make = { sync: makeSync, queued: makeQueued, stream: makeStream }[call.mode];
    await make(call, over, strange);
  } catch (error) {
    strange.push(`${call.prompt}: ${String(error)}`);
  }
  return strange;
}

const bodyOf = ({ model, mode, prompt }: Call): string =>
  JSON.stringify({
    ...(model.startsWith('openai/') && { model: model.split('/')[1] }),
    ...(mode === 'stream' ? { input: prompt, max_output_tokens: 500, stream: true } : { prompt }),
  });

/** Reads the stream to its end, or leaves it. */
async function makeStream(call: Call, over: AbortSignal, strange: string[]): Promise<void> {
  const path = `/v2/models/${call.model}`;
  const { cancelAfterMs: withinMs } = call;
  const answer = await (withinMs === undefined
    ? submitted(call, path, over)
    : answered(() => call.caller.call('POST', path, { body: bodyOf(call), headers: keyOf(call), withinMs })));
  if (answer === undefined) {
    if (withinMs !== undefined) call.result = 'left';
  } else if (answer.status === 429) call.result = 'refused';
  else if (answer.status !== 200) {
    if (answer.bucket === undefined || answer.status === 401) strange.push(`stream ${worded(answer)}`);
    else call.result = answer.bucket;
  } else if (answer.bytes.includes('"type":"response.completed"')) call.result = 'collected';
  else if (answer.bytes.includes('event: error\n')) call.result = 'error event';
  else strange.push(`stream ended without its last event: ${worded(answer)}`);
}

const keyOf = ({ key }: Call): Record<string, string> =>
  key === undefined ? {} : { 'idempotency-key': key };

async function makeSync(call: Call, over: AbortSignal, strange: string[]): Promise<void> {
  const answer = await submitted(call, `/v2/models/${call.model}`, over);
  if (answer === undefined) return;
  if (answer.status === 200) call.result = 'collected';
  else if (answer.status === 429) call.result = 'refused';
  else if (answer.bucket !== undefined && answer.status !== 401) call.result = answer.bucket;
  else strange.push(`sync ${worded(answer)}`);
}

async function makeQueued(call: Call, over: AbortSignal, strange: string[]): Promise<void> {
  const answer = await submitted(call, `/v2/models/${call.model}/requests`, over);
  if (answer === undefined) return;
  if (answer.status === 429) {
    call.result = 'refused';
    return;
  }
  if (answer.status !== 201) {
    strange.push(`submit ${worded(answer)}`);
    return;
  }
  const requestId = String(answer.json()['request_id']);
  call.runId = requestId;
  const run = { requestId, model: call.model, body: bodyOf(call) };
  await Promise.all([follow(call, run, over, strange), cancel(call, run, over, strange)]);
}

/**
 * Submits, and retries with the key if the connection is lost or the service asks for it; undefined if it gave
 * up.
 */
async function submitted(call: Call, path: string, over: AbortSignal): Promise<Answer | undefined> {
  const headers = keyOf(call);
  while (!over.aborted) {
    const answer = await answered(() =>
      call.caller.call('POST', path, { body: bodyOf(call), headers, withinMs: 120_000 }),
    );
    if (answer === undefined && call.key === undefined) {
      call.result = 'connection lost';
      return undefined;
    }
    // A synchronous run that ended as unavailable has freed its key, so the next attempt is another run.
    if (answer !== undefined && answer.status !== 503 && answer.bucket !== 'deadline_exceeded') return answer;
    await pause(500);
  }
  return undefined;
}

/** Polls the status until the run is completed, and collects the result if it succeeded. */
async function follow(call: Call, run: Submitted, over: AbortSignal, strange: string[]): Promise<void> {
  let everyMs = 500;
  while (!over.aborted) {
    const status = await answered(() => call.caller.status(run));
    if (status?.status === 200) {
      const { status: state, error_type: errorType } = status.json();
      if (typeof errorType === 'string') {
        call.result = errorType;
        return;
      }
      const result = state === 'COMPLETED' ? await answered(() => call.caller.collect(run)) : undefined;
      if (result?.status === 200) {
        call.result = 'collected';
        return;
      }
      if (result && result.status !== 503) strange.push(`collect ${worded(result)}`);
    } else if (status && status.status !== 503) strange.push(`status ${worded(status)}`);
    await pause(everyMs);
    everyMs = Math.min(everyMs * 1.3, 3000);
  }
}

async function cancel(call: Call, run: Submitted, over: AbortSignal, strange: string[]): Promise<void> {
  if (call.cancelAfterMs === undefined) return;
  await pause(call.cancelAfterMs);
  while (!over.aborted && call.result === undefined) {
    const answer = await answered(() => call.caller.cancel(run));
    if (answer?.status === 202 || answer?.status === 400) return;
    if (answer && answer.status !== 503) strange.push(`cancel ${worded(answer)}`);
    await pause(500);
  }
}

/** Undefined if the connection was refused, lost or silent. */
async function answered(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (/fetch failed|terminated|TimeoutError|Failed to parse URL/.test(String(error))) return undefined;
    throw error;
  }
}

const worded = (answer: Answer): string => `${answer.status} ${answer.bucket} ${answer.bytes.toString()}`;
