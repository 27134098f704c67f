import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PNG } from 'pngjs';
import { call, startWithCaller, type Caller } from '../testing/caller.js';

let caller: Caller;
beforeAll(async () => void (caller = await startWithCaller()));
beforeEach(async () => void (await caller.admin('/reset', {})));
afterAll(() => caller.simulator.close());

const bearer = { authorization: 'Bearer k' };
const submissions = [
  ['bfl', '/v1/flux-2-pro', { 'x-key': 'k' }, { prompt: 'a' }],
  [
    'bytedance',
    '/contents/generations/tasks',
    bearer,
    { model: 'seedance-1-0-pro-250528', content: [{ type: 'text', text: 'a' }] },
  ],
  ['elevenlabs', '/text-to-speech/v', { 'xi-api-key': 'k' }, { model_id: 'm', text: 'a' }],
  ['fal', '/fal-ai/flux/dev', { authorization: 'Key k' }, { prompt: 'a' }],
  ['ideogram', '/v1/ideogram-v3/generate', { 'api-key': 'k' }, { prompt: 'a' }],
  ['ltx', '/v1/text-to-video', bearer, { model: 'm', prompt: 'a', duration: 6, resolution: '1920x1080' }],
  ['luma', '/generations/video', bearer, { model: 'm', prompt: 'a' }],
  ['meshy', '/openapi/v2/text-to-3d', bearer, { mode: 'preview', prompt: 'a' }],
  ['minimax', '/v1/video_generation', bearer, { model: 'T2V-01', prompt: 'a' }],
  ['openai', '/images/generations', bearer, { model: 'm', prompt: 'a' }],
  [
    'pixverse',
    '/video/text/generate',
    { 'api-key': 'k', 'ai-trace-id': 'first' },
    { model: 'v5', prompt: 'a', aspect_ratio: '16:9', duration: 5, quality: '540p' },
  ],
  ['recraft', '/images/generations', bearer, { model: 'recraftv3', prompt: 'a' }],
  ['replicate', '/models/o/m/predictions', bearer, { input: { prompt: 'a' } }],
  [
    'runway',
    '/v1/text_to_image',
    { ...bearer, 'x-runway-version': '2024-11-06' },
    { model: 'gen4_image', promptText: 'a', ratio: '1920:1080' },
  ],
  ['tripo', '/task', bearer, { type: 'text_to_model', prompt: 'a' }],
  ['vidu', '/text2video', { authorization: 'Token k' }, { model: 'viduq1', prompt: 'a' }],
  [
    'wan',
    '/services/aigc/text2image/image-synthesis',
    { ...bearer, 'x-dashscope-async': 'enable' },
    { model: 'wan2.5-t2i-preview', input: { prompt: 'a' } },
  ],
] as const;

const submit = (name: string, path: string, headers: Record<string, string>, body: unknown) =>
  call(`${caller.simulator.api}/${name}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body).replace('"a"', '"a [[sim:takes=0]]"'),
  });

describe.each(submissions)('%s', (name, path, headers, body) => {
  it('rejects calls without a key, without a prompt, or in the wrong format', async () => {
    const noText = { ...body, prompt: 7, promptText: 7, input: 7, content: 7, text: 7 };
    const refused = [
      await submit(name, path, {}, body),
      await submit(name, path, { ...headers, 'ai-trace-id': 'second' }, noText),
      await submit(name, path, { ...headers, 'ai-trace-id': 'third' }, '["a"]'),
      await submit(name, path, { ...headers, 'ai-trace-id': 'fourth', 'content-type': 'text/plain' }, body),
    ];
    expect(await caller.entries()).toEqual([]);
    // The reply to a body without a prompt depends on the provider, and may have HTTP 200.
    expect(refused.slice(2).map(({ status }) => status)).toEqual([400, 415]);
  });

  it('accepts a submission and serves files on a host that rejects its key', async () => {
    await submit(name, path, { ...headers, 'ai-trace-id': `${name} submits` }, body);
    const [entry] = await caller.entries(`?provider=${name}`);
    const url = `${caller.simulator.assets}/${name}/files/${String(entry?.['id'])}/0.png`;
    expect((await call(url)).status).toBe(name === 'bfl' ? 403 : 200);
    expect((await call(url, { headers })).status).toBe(400);
  });
});

async function finished(body: object | string): Promise<string> {
  const { json } = await caller.bfl(body);
  await caller.advance(600);
  return (await call(String(json['polling_url']))).text;
}

describe('documented replies', () => {
  it('lead from the submission to polls on the other host and to a file', async () => {
    const { json } = await caller.bfl({ prompt: 'a cat' });
    expect(json['polling_url']).toBe(`${caller.simulator.assets}/bfl/v1/get_result?id=${String(json['id'])}`);
    expect((await call(String(json['polling_url']))).json).toMatchObject({
      id: json['id'],
      status: 'Pending',
    });
    const text = await finished({ prompt: 'a dog' });
    expect(text).toContain('"prompt":"a dog","seed":18446744073709551615,');
    const asset = await fetch(/"sample":"([^"]*)"/.exec(text)?.[1] ?? '');
    expect(asset.headers.get('content-type')).toBe('image/png');
    expect(PNG.sync.read(Buffer.from(await asset.arrayBuffer())).width).toBe(512);
  });

  it('keep their exact bytes, such as a 64-bit number', async () => {
    expect(await finished({ prompt: 'a' })).toContain(
      '"seed":18446744073709551615,"start_time":1746000000.10,',
    );
    const { text, json } = await caller.bfl({ prompt: '[[sim:int64_id]]' });
    const id = /"id":(\d{19}),/.exec(text)?.[1];
    expect(String(json['polling_url'])).toContain(`id=${id}`);
  });

  it.each([
    ['[[sim:policy_submit]]', 'Request Moderated'],
    ['[[sim:policy_output]]', 'Content Moderated'],
    ['[[sim:job_failed]]', 'Error'],
  ])('report %s', async (prompt, status) => {
    expect(JSON.parse(await finished({ prompt }))).toMatchObject({ status, result: null });
  });

  it('can be a success without a file', async () => {
    expect(JSON.parse(await finished({ prompt: '[[sim:no_asset]]' }))).toMatchObject({
      status: 'Ready',
      result: null,
    });
  });

  it('contain signed links that expire after ten minutes', async () => {
    const url = /"sample":"([^"]*)"/.exec(await finished({ prompt: 'a' }))?.[1] ?? '';
    expect((await call(url.replace(/sig=.{4}/, 'sig=AAAA'))).status).toBe(403);
    await caller.advance(599_000);
    expect((await call(url)).status).toBe(200);
    await caller.advance(1_000);
    expect((await call(url)).status).toBe(403);
  });
});

async function falRun(prompt: string, more: object = {}) {
  const { json } = await caller.fal({ prompt, ...more });
  return {
    status: () => caller.falCall(json['status_url']),
    response: () => caller.falCall(json['response_url']),
    cancel: () => caller.falCall(json['cancel_url'], 'PUT'),
  };
}

describe('a queue with a separate result call', () => {
  it('goes from queued to running to a result with files on the other host', async () => {
    const run = await falRun('a cat [[sim:queued=1000]]', { num_images: 2 });
    expect(await run.status()).toMatchObject({ status: 202, json: { status: 'IN_QUEUE' } });
    await caller.advance(1000);
    expect(await run.status()).toMatchObject({ status: 202, json: { status: 'IN_PROGRESS' } });
    expect((await run.response()).status).toBe(400);
    await caller.advance(600);
    expect(await run.status()).toMatchObject({ status: 200, json: { status: 'COMPLETED' } });
    const { text, json } = await run.response();
    expect(text).toContain('"seed":18446744073709551615,');
    const images = json['images'] as { url: string }[];
    expect(new Set(images.map(({ url }) => url)).size).toBe(2);
    for (const { url } of images) expect((await call(url)).status).toBe(200);
  });

  it('cancels queued and running generations', async () => {
    const queued = await falRun('[[sim:queued=5000]]');
    expect(await queued.cancel()).toMatchObject({ status: 200, json: { status: 'OK' } });
    expect((await queued.status()).json).toMatchObject({ error_type: 'client_cancelled' });
    expect((await queued.response()).status).toBe(499);
    const running = await falRun('[[sim:takes=5000]]');
    expect(await running.cancel()).toMatchObject({ status: 202, json: { status: 'CANCELLATION_REQUESTED' } });
    expect(await caller.entries()).toMatchObject([{ state: 'canceled' }, { state: 'canceled' }]);
  });

  it('may ignore a cancellation, or claim to have completed', async () => {
    const ignoring = await falRun('[[sim:takes=5000]][[sim:cancel_ignored]]');
    expect((await ignoring.cancel()).status).toBe(202);
    const late = await falRun('[[sim:takes=5000]][[sim:cancel_too_late]]');
    expect(await late.cancel()).toMatchObject({ status: 400, json: { status: 'ALREADY_COMPLETED' } });
    await caller.advance(5000);
    expect((await ignoring.response()).status).toBe(200);
    expect(await caller.entries()).toMatchObject([
      { state: 'succeeded', cancelAskedAtMs: expect.any(Number), canceledAtMs: null },
      { state: 'succeeded', cancelAskedAtMs: expect.any(Number), canceledAtMs: null },
    ]);
    const unknown = await caller.falCall(`${caller.simulator.api}/fal/fal-ai/flux/requests/x/cancel`, 'PUT');
    expect(unknown).toMatchObject({ status: 404, json: { status: 'NOT_FOUND' } });
  });

  it('reports a rejection only when the result is fetched', async () => {
    const run = await falRun('[[sim:policy_output]]');
    await caller.advance(600);
    expect((await run.status()).json).not.toHaveProperty('error');
    expect(await run.response()).toMatchObject({
      status: 422,
      json: { detail: [{ type: 'content_policy_violation' }] },
    });
  });

  it('returns the output of a video model as one file', async () => {
    const { json } = await submit('fal', '/fal-ai/veo3.1', { authorization: 'Key k' }, { prompt: 'a' });
    expect(String(json['response_url'])).toContain('/fal-ai/veo3.1/requests/');
    const result = await caller.falCall(json['response_url']);
    const file = await fetch((result.json['video'] as { url: string }).url);
    expect(Buffer.from(await file.arrayBuffer()).toString('latin1', 4, 12)).toBe('ftypisom');
  });
});

describe('a submission that the provider’s schema rejects', () => {
  it.each([
    ['bfl', '/v1/flux-2-pro', { 'x-key': 'k' }, { prompt: 'a', width: 1 }, 422, '"loc":["body","width"]'],
    ['openai', '/audio/speech', bearer, { input: 'a', voice: 'ash' }, 400, '"param":"model"'],
    ['minimax', '/v1/video_generation', bearer, { prompt: 'a' }, 200, '"status_code":2013'],
    [
      'runway',
      '/v1/text_to_image',
      submissions[13][2],
      { model: 'gen4_image', promptText: 'a', ratio: '1:1' },
      400,
      '"issues":[{',
    ],
    [
      'ideogram',
      '/v1/ideogram-v4/generate',
      { 'api-key': 'k' },
      { prompt: 'a' },
      400,
      '{"error":"text_prompt: ',
    ],
  ] as const)(
    '%s %s gets the provider’s own error format',
    async (name, path, headers, body, status, text) => {
      const refused = await submit(name, path, headers, body);
      expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(text)]);
      expect(await caller.entries()).toEqual([]);
    },
  );
});

describe('requirements of single providers', () => {
  it('pixverse: a unique trace ID in every call', async () => {
    const headers = { 'api-key': 'k', 'ai-trace-id': 'x' };
    const post = () => submit('pixverse', '/video/text/generate', headers, submissions[10][3]);
    expect([(await post()).status, (await post()).status]).toEqual([200, 400]);
  });

  it('wan: the header for an asynchronous run', async () => {
    const [, path, , body] = submissions[16];
    expect((await submit('wan', path, bearer, body)).status).toBe(400);
  });

  it.each([
    ['queued', 200],
    ['takes', 409],
  ])('bytedance: cancellation only while the video is queued (%s)', async (token, status) => {
    const content = [{ type: 'text', text: `[[sim:${token}=60000]]` }];
    const path = '/contents/generations/tasks';
    const { json } = await submit('bytedance', path, bearer, { model: 'seedance-1-0-pro-250528', content });
    const url = `${caller.simulator.api}/bytedance${path}/${String(json['id'])}`;
    expect((await call(url, { method: 'DELETE', headers: bearer })).status).toBe(status);
  });
});
