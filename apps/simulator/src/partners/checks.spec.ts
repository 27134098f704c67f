import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { call, startWithCaller, type Caller } from '../testing/caller.js';

let caller: Caller;
beforeAll(async () => void (caller = await startWithCaller({ defaultMs: 0 })));
afterAll(() => caller.simulator.close());

const bearer = { authorization: 'Bearer k' };
const partners = [
  [
    'bytedance',
    '/contents/generations/tasks',
    bearer,
    { model: 'm', content: [{ type: 'text', text: 'a' }] },
  ],
  ['meshy', '/openapi/v2/text-to-3d', bearer, { mode: 'preview', prompt: 'a' }],
  ['minimax', '/video_generation', bearer, { model: 'T2V-01', prompt: 'a' }],
  [
    'pixverse',
    '/video/text/generate',
    { 'api-key': 'k', 'ai-trace-id': 'first' },
    { model: 'v5', prompt: 'a' },
  ],
  ['recraft', '/images/generations', bearer, { model: 'recraftv3', prompt: 'a' }],
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
    body: JSON.stringify(body),
  });

const accepted = async (name: string) => (await caller.entries(`?provider=${name}`)).length;

describe.each(partners)('%s', (name, path, headers, body) => {
  it('takes nothing without its key, without its prompt, or in another form', async () => {
    await submit(name, path, {}, body);
    await submit(
      name,
      path,
      { ...headers, 'ai-trace-id': 'second' },
      { ...body, prompt: 7, input: 7, content: 7 },
    );
    await submit(name, path, { ...headers, 'ai-trace-id': 'third', 'content-type': 'text/plain' }, body);
    expect(await accepted(name)).toBe(0);
  });

  it('takes a submission and delivers files on a host that refuses its key', async () => {
    await submit(name, path, headers, body);
    const [entry] = await caller.entries(`?provider=${name}`);
    const url = `${caller.simulator.assets}/${name}/files/${String(entry?.['id'])}/0.png`;
    expect((await call(url)).status).toBe(200);
    expect((await call(url, { headers })).status).toBe(400);
  });
});

async function cancelled(tokens: string): Promise<number> {
  const text = `[[sim:${tokens}]][[sim:takes=60000]]`;
  const { json } = await submit('bytedance', partners[0][1], bearer, {
    model: 'm',
    content: [{ type: 'text', text }],
  });
  const url = `${caller.simulator.api}/bytedance${partners[0][1]}/${String(json['id'])}`;
  return (await call(url, { method: 'DELETE', headers: bearer })).status;
}

describe('what single partners want', () => {
  it('pixverse: a trace id of its own in every call', async () => {
    const answers = [];
    for (const trace of ['', 'x', 'x']) {
      const { json } = await submit(
        'pixverse',
        partners[3][1],
        { 'api-key': 'k', 'ai-trace-id': trace },
        partners[3][3],
      );
      answers.push(json['ErrCode']);
    }
    expect(answers).toEqual([400017, 0, 400017]);
  });

  it('wan: the header that asks for an asynchronous run', async () => {
    const { status } = await submit('wan', partners[7][1], bearer, partners[7][3]);
    expect(status).toBe(403);
  });

  it('bytedance: a cancel only while the clip is in the queue', async () => {
    expect(await cancelled('queued=60000')).toBe(200);
    expect(await cancelled('queued=0')).toBe(409);
  });
});
