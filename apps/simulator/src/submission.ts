import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { countAttempt, refusalOf } from './attempts.js';
import { readControl, tokensOf } from './control.js';
import { durations, endOf, type Generation } from './ledger/generation.js';
import type { Submit } from './provider.js';
import { sendAccepted } from './reply-faults.js';
import { accountOf, notableHeaders, type Side, type Simulation, viewOf } from './simulation.js';
import { sendStream } from './send-stream.js';
import { unknownUpload } from './uploads.js';
import { digestOf, hang, refuseCall, send } from './wire.js';

/** Handles a submission: validates it as the provider would, applies planned faults, writes the ledger, and answers. */
export async function takeSubmission(
  { simulation, provider, protocol, replies, schemas }: Side,
  submit: Submit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
  const bodySha256 = createHash('sha256').update(body).digest('hex');
  const attempt = countAttempt(simulation, `${provider.name}/${bodySha256}`);

  const fields = await readFields(submit, body, request.headers);
  if (fields === undefined)
    return refuseCall(reply, `the body is not a ${submit.form ? 'form' : 'JSON object'}`);
  // The schemas describe JSON only; all values of a form are strings.
  const fault = isForm(request.headers)
    ? undefined
    : schemas.faultOf(request.url.slice(provider.name.length + 1), fields);
  if (fault) return send(reply, replies.rejection(fault));
  const unknown = unknownUpload(provider, simulation, fields);
  if (unknown !== undefined)
    return send(reply, replies.rejection({ at: [unknown], text: 'This account has no such upload' }));
  const read = readRequest(submit, request, fields);
  if (typeof read === 'string') return refuseCall(reply, read);
  const { model, prompt } = read;
  const tokens = tokensOf(prompt);
  const { control, problems } = readControl(tokens);
  if (problems.length > 0) return refuseCall(reply, problems.join('; '));

  const named = submit.idOf && String(submit.idOf(fields));
  if (named !== undefined && (!uuidV4.test(named) || simulation.ledger.find(provider.name, named)))
    return refuseCall(reply, `${named} is not a version 4 UUID, or another generation already uses it`);

  if (control.has('hang_submit')) return hang(reply);
  const refusal = refusalOf(replies, control, attempt);
  if (refusal) return send(reply, refusal);

  const generation = simulation.ledger.accept({
    provider: provider.name,
    id: named ?? (provider.numericIds || control.has('int64_id') ? int64() : randomUUID()),
    model,
    path: request.url,
    atMs: simulation.clock.now(),
    tag: control.get('tag') ?? null,
    account: accountOf(request.headers),
    prompt,
    body,
    bodySha256,
    headers: notableHeaders(request.headers),
    attempt,
    tokens,
    control,
    ...durations(control, simulation.defaultMs),
    cancelAskedAtMs: null,
    canceledAtMs: null,
    pollCount: 0,
    resultCount: 0,
    assetCount: 0,
    abortedAtMs: null,
    used: null,
    replySha256: null,
  });
  const atOnce = protocol.poll === undefined;
  // The reply is the result, so it waits until the generation has ended.
  if (atOnce) await untilEnd(simulation, generation);
  const answer = replies.submitted(viewOf(simulation, provider, generation));
  if (atOnce) generation.replySha256 = digestOf(answer);
  const { stream: form } = protocol;
  const streams = form !== undefined && answer.status === 200 && answer.body !== '' && requestsStream();
  if (!streams) return sendAccepted(reply, control, answer);
  const facts = { form, request: fields, answer, control, generation, nowMs: () => simulation.clock.now() };
  return sendAccepted(reply, control, answer, () => sendStream(reply, facts));

  function requestsStream(): boolean {
    if (form?.requested) return form.requested(request.url, fields ?? {});
    return fields?.['stream'] === true || fields?.['stream'] === 'true';
  }
}

async function untilEnd({ clock }: Simulation, generation: Generation): Promise<void> {
  const leftMs = () => endOf(generation) - clock.now();
  while (leftMs() > 0) await pause(Math.min(leftMs(), 1000));
}

const isAs = (header: string | string[] | undefined, value: string | RegExp): boolean =>
  typeof value === 'string' ? header === value : value.test(String(header));

/** The model and prompt of the call, or what is wrong with it. */
function readRequest(
  submit: Submit,
  { headers, params }: FastifyRequest,
  fields: Record<string, unknown>,
): { model: string; prompt: string } | string {
  for (const [name, value] of Object.entries(submit.headers ?? {}))
    if (!isAs(headers[name], value)) return `the header ${name} is not ${String(value)}`;
  const { modelOf, promptOf, promptOptional } = submit;
  const model = modelOf ? modelOf(params as Record<string, string>, fields) : fields['model'];
  if (typeof model !== 'string') return 'the call does not name a model';
  const optional = typeof promptOptional === 'function' ? promptOptional(model) : promptOptional;
  const prompt = (promptOf ? promptOf(fields) : fields['prompt']) ?? (optional ? '' : undefined);
  return typeof prompt === 'string' ? { model, prompt } : 'the prompt is missing or not a string';
}

/** Undefined if the body doesn't have the required format. */
async function readFields(
  { form, listed }: Submit,
  body: Buffer,
  headers: IncomingHttpHeaders,
): Promise<Record<string, unknown> | undefined> {
  try {
    if (form === true || (form && isForm(headers))) {
      const { 'content-type': contentType = '' } = headers;
      if (!isForm(headers)) return undefined;
      const parts = await new Response(body, { headers: { 'content-type': contentType } }).formData();
      return Object.fromEntries([...parts].filter(([, value]) => typeof value === 'string'));
    }
    const whole = JSON.parse(body.toString()) as unknown;
    const parsed = listed && Array.isArray(whole) && whole.length === 1 ? (whole[0] as unknown) : whole;
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const isForm = ({ 'content-type': type = '' }: IncomingHttpHeaders): boolean =>
  type.startsWith('multipart/form-data');

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** An odd number between 2^62 and 2^63. No double can hold it, so a reader that parses it as a number corrupts it. */
function int64(): string {
  const low = randomBytes(7).reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
  return String((1n << 62n) + (low | 1n));
}
