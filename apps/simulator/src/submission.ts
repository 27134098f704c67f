import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { concerns, readControl, tokensOf, type Control } from './control.js';
import { notableHeaders, viewOf, type Desk } from './desk.js';
import { durations, endOf, type Generation } from './ledger/generation.js';
import type { FieldError, Partner, PartnerSubmit, Reply } from './partner.js';
import { refuse, sendAccepted } from './reply-faults.js';
import { cut, digestOf, hang, send } from './wire.js';

/** Takes one submission: check it as the partner would, apply the planned faults, write the ledger, answer. */
export async function takeSubmission(
  desk: Desk,
  partner: Partner,
  submit: PartnerSubmit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
  const bodySha256 = createHash('sha256').update(body).digest('hex');
  const attempt = countAttempt(desk, `${partner.name}/${bodySha256}`);
  const queued = desk.scenarios.take(partner.name);

  const read = await readBody(submit, body, request.headers['content-type'] ?? '');
  if ('error' in read) return send(reply, partner.fieldErrors([read.error]));
  const model = submit.modelOf(request.params as Record<string, string>, read.fields);
  if (model === undefined) return send(reply, { status: 404, body: { detail: 'Not Found' } });
  const asked = readPrompt(submit, model, read.fields);
  if ('error' in asked) return send(reply, partner.fieldErrors([asked.error]));
  const wanting = submit.refuses?.(request.headers, read.fields);
  if (wanting) return send(reply, wanting);
  const { prompt } = asked;
  const tokens = [...tokensOf(prompt), ...queued];
  const { control, problems } = readControl(tokens);
  if (problems.length > 0)
    return send(reply, { status: 400, body: { detail: `simulator: ${problems.join('; ')}` } });

  if (control.has('reset_before_read')) return cut(reply);
  if (control.has('hang_submit')) return hang(reply);
  const refusal = refusalOf(partner, control, attempt, prompt);
  if (refusal) return send(reply, refusal);

  const generation = desk.ledger.accept({
    provider: partner.name,
    id: partner.numericIds || control.has('int64_id') ? int64() : randomUUID(),
    model,
    path: request.url,
    atMs: desk.clock.now(),
    tag: control.get('tag') ?? null,
    prompt,
    body,
    bodySha256,
    headers: notableHeaders(request.headers),
    attempt,
    tokens,
    control,
    ...durations(control, desk.defaultMs),
    cancelAskedAtMs: null,
    canceledAtMs: null,
    pollCount: 0,
    resultCount: 0,
    assetCount: 0,
    replySha256: null,
  });
  if (submit.atOnce) await untilEnd(desk, generation);
  const answer = submit.answer(viewOf(desk, partner, generation));
  if (submit.atOnce) generation.replySha256 = digestOf(answer);
  return sendAccepted(reply, control, answer);
}

async function untilEnd(desk: Desk, generation: Generation): Promise<void> {
  const leftMs = () => endOf(generation) - desk.clock.now();
  while (leftMs() > 0) await pause(Math.min(leftMs(), 1000));
}

function countAttempt(desk: Desk, key: string): number {
  const attempt = (desk.attempts.get(key) ?? 0) + 1;
  desk.attempts.set(key, attempt);
  return attempt;
}

/** Why the partner does not take the submission, if it does not. */
function refusalOf(partner: Partner, control: Control, attempt: number, prompt: string): Reply | undefined {
  if (concerns(control, '401', attempt)) return partner.refusals.unauthorized;
  if (concerns(control, '402', attempt) || concerns(control, 'locked', attempt))
    return partner.refusals.no_credit;
  for (const status of ['429', '503'] as const)
    if (concerns(control, status, attempt)) return refuse(partner, Number(status), control);
  for (const status of ['500', '502', '504'] as const)
    if (concerns(control, `${status}_submit`, attempt)) return refuse(partner, Number(status), control);
  if (control.has('field_error')) return partner.fieldErrors([partner.exampleFieldError]);
  if (control.has('policy_submit')) return partner.policyRefusal?.(prompt);
  return undefined;
}

type Fields = Record<string, unknown>;

async function readBody(
  { form }: PartnerSubmit,
  body: Buffer,
  contentType: string,
): Promise<{ fields: Fields } | { error: FieldError }> {
  if (form) return readForm(body, contentType);
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch (cause) {
    const ctx = { error: cause instanceof Error ? cause.message : 'not JSON' };
    return { error: { type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {}, ctx } };
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
    return { fields: parsed as Fields };
  return {
    error: {
      type: 'model_attributes_type',
      loc: ['body'],
      msg: 'Input should be a valid dictionary or object to extract fields from',
      input: parsed,
    },
  };
}

async function readForm(
  body: Buffer,
  contentType: string,
): Promise<{ fields: Fields } | { error: FieldError }> {
  try {
    if (!contentType.startsWith('multipart/form-data')) throw new Error(`${contentType} is no form`);
    const parts = await new Response(body, { headers: { 'content-type': contentType } }).formData();
    return { fields: Object.fromEntries([...parts].filter(([, value]) => typeof value === 'string')) };
  } catch (cause) {
    const msg = cause instanceof Error ? cause.message : 'not a form';
    return { error: { type: 'bad_request', loc: ['body'], msg } };
  }
}

function readPrompt(
  { prompt: wanted }: PartnerSubmit,
  model: string,
  fields: Fields,
): { prompt: string } | { error: FieldError } {
  const { loc } = wanted;
  const prompt = wanted.read(fields);
  if (typeof prompt === 'string') return { prompt };
  if (prompt !== undefined)
    return { error: { type: 'string_type', loc, msg: 'Input should be a valid string', input: prompt } };
  if (wanted.optionalFor?.(model)) return { prompt: '' };
  return { error: { type: 'missing', loc, msg: 'Field required', input: fields } };
}

/** Between 2^62 and 2^63 and odd, so that no double holds it: a reader that parses it as a number loses it. */
function int64(): string {
  const low = randomBytes(7).reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
  return String((1n << 62n) + (low | 1n));
}
