import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { amount, type Control } from './control.js';
import type { Generation } from './ledger/generation.js';
import type { Reply } from './provider.js';
import { stream } from './wire.js';
import type { EventForm, SentEvent } from './event-forms.js';
import { hiddenTokens, readTokens, reasonMs, tokensOfText, withUsage } from './stream-usage.js';

const usualPauseMs = 20;
/** How many bytes are sent at once if a control makes the stream longer. */
const blockBytes = 16 * 1024;

/**
 * Sends a reply as events, or the fault that a control plans for the middle of the stream. Records the digest of the
 * bytes that were sent, and when the caller closed the connection before the end.
 */
export function sendStream(
  reply: FastifyReply,
  { form, request, answer, control, generation, nowMs }: StreamFacts,
): FastifyReply {
  generation.replySha256 = null;
  const { raw } = reply;
  const left = new AbortController();
  let isReset = false;
  raw.once('close', () => {
    if (raw.writableFinished || isReset) return;
    generation.abortedAtMs = nowMs();
    left.abort();
  });
  const headers = {
    ...answer.headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  };
  return stream(reply, answer.status, headers, sent());

  async function* sent(): AsyncGenerator<Buffer> {
    const digest = createHash('sha256');
    const used = (generation.used = { read: 0, written: 0 });
    await pause(amount(control, 'stream_slow', 0), undefined, { signal: left.signal });
    const beganAtMs = nowMs();
    let isReasoning = control.has('stream_reason');
    const endReasoning = (ms: number) => {
      if (isReasoning) used.written += hiddenTokens(ms);
      isReasoning = false;
    };
    // A caller who leaves pays for the time until then. Models reason from the first event on.
    left.signal.addEventListener('abort', () =>
      endReasoning(Math.min(nowMs() - beganAtMs, reasonMs(control))),
    );
    let isBetween = false;
    for (const part of written(form, { request, path: generation.path }, answer, control, used)) {
      // Not after the last event, because callers may close the connection then.
      if (isBetween)
        await pause(amount(control, 'stream_pause', usualPauseMs), undefined, { signal: left.signal });
      isBetween = false;
      if (part === hanging) {
        await once(left.signal, 'abort');
        return;
      }
      if (part === reasoning) {
        const leftMs = Math.max(0, beganAtMs + reasonMs(control) - nowMs());
        await pause(leftMs, undefined, { signal: left.signal });
        endReasoning(reasonMs(control));
        continue;
      }
      if (part === late) {
        await pause(amount(control, 'stream_late', 0), undefined, { signal: left.signal });
        continue;
      }
      if (part === reset) {
        isReset = true;
        raw.socket?.resetAndDestroy();
        return;
      }
      used.written += tokensOfText(part.text ?? '');
      digest.update(part.bytes);
      yield Buffer.from(part.bytes);
      isBetween = true;
    }
    generation.replySha256 = digest.digest('hex');
  }
}

const hanging = Symbol('hanging');
const reset = Symbol('reset');
const reasoning = Symbol('reasoning');
const late = Symbol('late');
type Ending = typeof hanging | typeof reset | typeof reasoning | typeof late;

interface StreamFacts {
  form: EventForm;
  /** The body of the submission. */
  request: Record<string, unknown>;
  answer: Reply;
  control: Control;
  generation: Generation;
  nowMs: () => number;
}

/** The events in the order in which they are sent, and the fault that ends them. Counts the tokens of the input. */
function* written(
  form: EventForm,
  { request, path }: { request: Record<string, unknown>; path: string },
  { body }: Reply,
  control: Control,
  used: NonNullable<Generation['used']>,
): Generator<SentEvent | Ending> {
  const text = typeof body === 'string' ? body : '{}';
  const whole = JSON.parse(text) as Record<string, unknown>;
  const shown = form
    .events(whole, request, path)
    .reduce((sum, each) => sum + tokensOfText(each.text ?? ''), 0);
  const hidden = hiddenTokens(reasonMs(control));
  const reply = control.has('stream_reason') ? withUsage(whole, { shown, hidden }) : whole;
  used.read = readTokens(reply);
  const events = form.events(reply, request, path);
  const middle = events.findLastIndex(isText);
  const half = middle === -1 ? events.length - 1 : middle;
  const first = events.findIndex(isText);
  for (const [index, event] of events.slice(0, half).entries()) {
    if (index === first && control.has('stream_reason')) yield reasoning;
    yield event;
  }
  yield* filler(events, control);
  if (control.has('stream_error')) return yield form.error;
  if (control.has('stream_hang')) return yield hanging;
  if (control.has('stream_reset')) return yield reset;
  if (control.has('stream_short')) return;
  for (const event of events.slice(half)) {
    // The usage follows the answer.
    if (control.has('stream_late') && event.bytes.includes('usage') && event.text === undefined) yield late;
    yield event;
  }
}

/** Repeats a part of the text until the stream has the length that a control states. */
function* filler(events: readonly SentEvent[], control: Control): Generator<SentEvent> {
  const text = events.find((each) => each.text !== undefined);
  if (!text || !control.has('stream_bytes')) return;
  const whole = events.reduce((sum, { bytes }) => sum + Buffer.byteLength(bytes), 0);
  const each = Buffer.byteLength(text.bytes);
  let missing = Math.ceil((amount(control, 'stream_bytes', 1024 * 1024) - whole) / each);
  const atOnce = Math.max(1, Math.floor(blockBytes / each));
  for (; missing > 0; missing -= atOnce) yield { bytes: text.bytes.repeat(Math.min(missing, atOnce)) };
}

const isText = (each: SentEvent): boolean => each.text !== undefined;
