import { describe, expect, it } from '@jest/globals';

import { failuresOf } from './testing/failures.js';
import { replyOf } from './testing/fixtures.js';
import { providerOf } from './testing/provider-of.js';

/** Replies that no document of the provider shows, but that are likely because of its other replies. */
const of = (provider: string, upstream: Record<string, string> = {}, handle = {}) =>
  failuresOf(
    providerOf(provider),
    { path: 'p', accept: 'image/*', ...upstream },
    { id: '7', ...upstream, ...handle },
  );

const video = { protocol: 'video' };
const image = { protocol: 'image' };
const errors = (code: string) => ({ errors: [{ code, message: 'x', parameter: 'p', taskUUID: '7' }] });
const said = (code: string) => ({ error: { code, message: 'x' } });
const response = (status: string, output: unknown[], more = {}) => ({ id: '7', status, output, ...more });
const details = (text: string) => ({ request_id: '7', error: { code: 422, message: 'x', details: text } });

describe('a rejected poll or fetch does not end a run', () => {
  it.each<[string, number, unknown, string, ReturnType<typeof of>]>([
    ['runware', 401, errors('invalidApiKey'), 'provider_account, same_call', of('runware', video)],
    ['runware', 429, errors('rateLimitExceeded'), 'provider_unavailable, same_call', of('runware', video)],
    ['runware', 500, errors('internalError'), 'provider_failed, same_call', of('runware', video)],
    ['runware', 503, errors('timeoutProvider'), 'provider_unavailable, same_call', of('runware', video)],
    ['runware', 200, errors('invalidApiKey'), 'provider_account, same_call', of('runware', video)],
    ['beeble', 400, said('HARD_LIMIT_EXCEEDED'), 'provider_account, same_call', of('beeble')],
    ['beeble', 402, said('INSUFFICIENT_BALANCE'), 'provider_account, same_call', of('beeble')],
    ['bria', 422, details('x'), 'provider_failed, same_call', of('bria')],
    ['luma', 400, { detail: 'Insufficient credits' }, 'provider_account, same_call', of('luma')],
    ['luma', 400, { detail: 'Prompt not allowed' }, 'provider_failed, same_call', of('luma')],
    ['wavespeed', 400, { code: 1400, message: 'x' }, 'provider_failed, same_call', of('wavespeed')],
    ['wavespeed', 504, { code: 5004, message: 'x' }, 'provider_timeout, same_call', of('wavespeed')],
  ])('%s, a poll with HTTP %i %j: %s', (_provider, status, body, failure, { polled }) => {
    expect(polled(body, status)).toBe(failure);
  });

  it.each([
    ['fal', 202, { status: 'IN_PROGRESS' }, 'provider_failed, same_call'],
    ['fal', 401, { detail: 'No user' }, 'provider_account, same_call'],
    ['fal', 403, { detail: 'User is locked.' }, 'provider_account, same_call'],
  ])('%s, a fetch with HTTP %i %j: %s', (provider, status, body, failure) => {
    expect(of(provider).fetched(body, status)).toBe(failure);
  });
});

describe('an account problem that no document shows is recognised by its words', () => {
  it.each<[string, number, unknown, string]>([
    ['recraft', 400, { code: 'not_enough_credits', message: 'x' }, 'provider_account, never'],
    ['wavespeed', 200, { code: 402, message: 'x' }, 'provider_account, never'],
    [
      'byteplus-speech',
      403,
      { header: { code: 45000030, message: 'requested resource not granted' } },
      'provider_account, never',
    ],
    [
      'byteplus-speech',
      429,
      { code: 45000292, message: 'quota exceeded for types: characters_lifetime' },
      'provider_account, never',
    ],
    [
      'byteplus-speech',
      429,
      { code: 45000292, message: 'quota exceeded for types: concurrency' },
      'provider_unavailable, new_submit',
    ],
    [
      'openrouter',
      402,
      { error: { code: 402, message: 'x', metadata: { limit_source: 'openrouter_in_flight_budget' } } },
      'provider_unavailable, new_submit',
    ],
    [
      'bytedance',
      429,
      { error: { code: 'QuotaExceeded', message: 'The request has exceeded the quota.' } },
      'provider_unavailable, new_submit',
    ],
    [
      'gemini-interactions',
      429,
      { error: { code: 429, message: 'Quota exceeded for metric: x, limit: 20, model: y' } },
      'provider_unavailable, new_submit',
    ],
  ])('%s with HTTP %i %j: %s', (provider, status, body, failure) => {
    expect(of(provider).submitted(body, status)).toBe(failure);
  });
});

describe('a success is a known success state', () => {
  const text = { protocol: 'text' };
  const reasoning = [{ id: '1', type: 'reasoning', summary: [] }];
  const cut = { incomplete_details: { reason: 'max_output_tokens' } };
  const words = { parts: [{ text: 'Here it is.' }] };
  const userInput = { type: 'user_input', content: [{ type: 'text', text: 'a cat' }] };
  const output = { type: 'model_output', content: [{ type: 'text', text: 'ok' }] };
  const answered = { role: 'assistant', content: 'ok' };
  const usage = { input_tokens: 5, output_tokens: 0 };
  const silent = { role: 'assistant', content: null };
  const emptyImage = { inlineData: { mimeType: 'image/png', data: '' } };

  it.each<[string, Record<string, string>, unknown, string]>([
    ['openai', text, response('queued', reasoning), 'provider_failed, never'],
    ['openai', text, response('in_progress', reasoning), 'provider_failed, never'],
    ['openai', text, response('incomplete', reasoning), 'provider_failed, never'],
    ['openai', text, response('incomplete', reasoning, cut), 'succeeded'],
    ['openai', text, response('completed', []), 'provider_failed, never'],
    ['openai', text, response('completed', [{ type: 'message', content: [] }]), 'succeeded'],
    ['gemini-interactions', {}, { status: 'queued', steps: [{}] }, 'provider_failed, never'],
    ['gemini-interactions', {}, { status: 'completed', steps: [] }, 'provider_failed, never'],
    ['gemini-interactions', {}, { status: 'completed', steps: [userInput] }, 'provider_failed, never'],
    ['gemini-interactions', {}, { status: 'completed', steps: [userInput, output] }, 'succeeded'],
    ['gemini-interactions', {}, { steps: [{ type: 'model_output' }] }, 'provider_failed, never'],
    ['anthropic', {}, { type: 'message', content: [], stop_reason: 'end_turn', usage }, 'succeeded'],
    ['anthropic', {}, { type: 'message_batch', content: [] }, 'provider_failed, never'],
    ['anthropic', {}, { type: 'message', content: [], stop_reason: null }, 'provider_failed, never'],
    ['anthropic', {}, { type: 'message', content: [], stop_reason: 'x' }, 'provider_failed, never'],
    ['anthropic', {}, { type: 'message', content: [] }, 'provider_failed, never'],
    ['anthropic', {}, { type: 'message', stop_reason: 'end_turn' }, 'succeeded without files'],
    ['openrouter', {}, { choices: [] }, 'provider_failed, never'],
    ['openrouter', {}, { choices: [{}] }, 'provider_failed, never'],
    ['openrouter', {}, { choices: [{ finish_reason: null, message: answered }] }, 'provider_failed, never'],
    ['openrouter', {}, { choices: [{ finish_reason: 'x', message: answered }] }, 'provider_failed, never'],
    ['openrouter', {}, { choices: [{ finish_reason: 'stop' }] }, 'provider_failed, never'],
    ['openrouter', {}, { choices: [{ finish_reason: 'stop', message: silent }] }, 'provider_failed, never'],
    ['openrouter', {}, { choices: [{ finish_reason: 'length', message: silent }] }, 'succeeded'],
    ['openrouter', {}, { choices: [{ finish_reason: 'length' }] }, 'succeeded without files'],
    ['openrouter', {}, { choices: [{ finish_reason: 'content_filter', message: answered }] }, 'succeeded'],
    [
      'openrouter',
      {},
      { choices: [{ finish_reason: 'stop', message: { ...answered, content: '' } }] },
      'succeeded',
    ],
    ['openrouter', {}, { choices: [{ finish_reason: 'error', message: {} }] }, 'provider_failed, never'],
    ['google', { protocol: 'text', method: 'x' }, { candidates: [] }, 'provider_failed, never'],
    ['google', text, { candidates: [{ finishReason: 'MAX_TOKENS' }] }, 'succeeded'],
    ['google', text, { candidates: [{ finishReason: 'OTHER' }] }, 'provider_failed, never'],
    ['google', text, { candidates: [{ finishReason: 'STOP' }] }, 'provider_failed, never'],
    ['google', text, { candidates: [{ finishReason: 'STOP', content: words }] }, 'succeeded'],
    ['google', text, { candidates: [{ finishReason: 'SAFETY', content: words }] }, 'succeeded'],
    ...[
      'OTHER',
      'MALFORMED_FUNCTION_CALL',
      'NO_IMAGE',
      'IMAGE_OTHER',
      'OF_TOMORROW',
      null,
      undefined,
    ].flatMap((finishReason) =>
      [text, image].map((protocol): [string, Record<string, string>, unknown, string] => [
        'google',
        protocol,
        { candidates: [{ finishReason, content: words }] },
        'provider_failed, never',
      ]),
    ),
    ['google', image, { candidates: [{ finishReason: 'STOP', content: words }] }, 'succeeded'],
    ['google', image, { candidates: [{ finishReason: 'MAX_TOKENS', content: words }] }, 'succeeded'],
    ['google', image, { candidates: [{ finishReason: 'STOP' }] }, 'succeeded without files'],
    [
      'google',
      image,
      { candidates: [{ finishReason: 'IMAGE_SAFETY', content: words }] },
      'content_policy, never',
    ],
    [
      'google',
      image,
      { candidates: [{ finishReason: 'STOP', content: { parts: [{ text: 'Here it is.' }, emptyImage] } }] },
      'succeeded',
    ],
    ['minimax', { protocol: 'audio' }, { data: { audio: 'ff', status: 1 } }, 'provider_failed, never'],
    [
      'minimax',
      { protocol: 'audio' },
      { data: { audio: 'ff', status: 2 }, base_resp: { status_code: -1 } },
      'provider_failed, never',
    ],
    ['runware', image, { data: [{ imageDataURI: 'data:image/png;base64,' }] }, 'succeeded without files'],
    ['openai', { protocol: 'media' }, { data: [{ b64_json: ' ' }] }, 'succeeded without files'],
    ['openai', { protocol: 'media' }, { error: { message: 'Overloaded.' } }, 'provider_failed, never'],
    ['openai', { protocol: 'speech' }, { data: [] }, 'unreadable, never'],
  ])('%s %j: %j is %s', (provider, upstream, body, outcome) => {
    expect(of(provider, upstream).submitted(body)).toBe(outcome);
  });
});

describe('a refusal of content is distinguished from replies that only sound like one', () => {
  const flag = details('visual_input_content_moderation: value is not a valid boolean');
  const refused = { url: '', respect_moderation: false };
  const sensitive = said('OutputImageSensitiveContentDetected');

  it.each<[string, number, object, string, Record<string, string>]>([
    ['runware', 400, errors('invalidContentType'), 'rejected_input, never', image],
    ['runware', 400, errors('invalidContentLength'), 'rejected_input, never', image],
    ['runware', 400, errors('contentModeration'), 'content_policy, never', image],
    ['bria', 422, flag, 'rejected_input, never', {}],
    ['bria', 422, details('Moderation refused the image.'), 'content_policy, never', {}],
    ['bytedance', 200, { data: [{ url: 'https://a.example/a' }], ...sensitive }, 'succeeded', image],
    ['bytedance', 200, { data: [], ...sensitive }, 'content_policy, never', image],
    ['xai', 200, { data: [refused] }, 'content_policy, never', image],
    ['xai', 200, { data: [refused, { url: 'https://a.example/a' }] }, 'succeeded', image],
  ])('%s with HTTP %i %j: %s', (provider, status, body, outcome, upstream) => {
    expect(of(provider, upstream).submitted(body, status)).toBe(outcome);
  });
});

describe('a prediction of Replicate', () => {
  it.each([
    [[], 'succeeded without files'],
    [[null], 'succeeded without files'],
    ['', 'succeeded without files'],
    [['https://replicate.delivery/a.webp'], 'succeeded'],
    ['a text', 'succeeded'],
    [{ image: 'https://replicate.delivery/a.webp' }, 'succeeded'],
  ])('with the output %j: %s', (output, outcome) => {
    expect(of('replicate').polled({ status: 'succeeded', output })).toBe(outcome);
  });
});

describe('a reply without a cancel URL', () => {
  it.each([
    [
      'fal',
      {
        status_url: 'https://queue.fal.run/a/requests/7/status',
        response_url: 'https://queue.fal.run/a/requests/7',
      },
    ],
    ['replicate', { urls: { get: 'https://api.replicate.com/v1/predictions/7' } }],
  ])('from %s starts a run that cannot be cancelled', (provider, body) => {
    const definition = providerOf(provider);
    const adapter = definition.create(definition.defaultBase, {});
    const run = { runId: 'r', model: 'm', upstream: { path: 'p' }, body: new Uint8Array() };
    const outcome = adapter.onSubmit(run, replyOf(201, JSON.stringify(body)));
    if (outcome.kind !== 'pending') throw new Error(outcome.kind);
    expect(adapter.cancel?.(outcome.handle)).toBeUndefined();
  });
});

describe('a file whose content type does not name a file', () => {
  const types = ['application/octet-stream', 'binary/octet-stream', 'application/ogg', undefined];

  it.each(types.flatMap((type) => ['elevenlabs', 'openai', 'ltx', 'stability'].map((name) => [name, type])))(
    'from %s is a result: %s',
    (name = '', type) => {
      const definition = providerOf(name);
      const run = { runId: 'r', model: 'm', upstream: { path: 'p' }, body: new Uint8Array() };
      const outcome = definition
        .create(definition.defaultBase, {})
        .onSubmit(run, replyOf(200, 'OggS', type === undefined ? {} : { 'content-type': type }));
      expect(outcome).toMatchObject({
        kind: 'succeeded',
        output: { mediaType: type ?? 'application/octet-stream' },
      });
    },
  );
});
