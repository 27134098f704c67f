import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PNG } from 'pngjs';
import { call, startWithCaller, type Caller } from '../../testing/caller.js';

let caller: Caller;
beforeAll(async () => void (caller = await startWithCaller()));
beforeEach(async () => void (await caller.admin('/reset', {})));
afterAll(() => caller.simulator.close());

const sampleOf = (json: Record<string, unknown>) => (json['result'] as { sample: string }).sample;

async function finished(prompt: string): Promise<Record<string, unknown>> {
  const { json } = await caller.bfl({ prompt });
  await caller.advance(600);
  return (await call(String(json['polling_url']))).json;
}

describe('bfl', () => {
  it('goes from submission over the other host to an asset', async () => {
    const submitted = await caller.bfl({ prompt: 'a cat', seed: 9007199254740995n.toString() });
    expect(submitted.status).toBe(200);
    expect(submitted.text).toContain('"cost":3.0,"input_mp":0.0,');
    const pollingUrl = String(submitted.json['polling_url']);
    expect(pollingUrl).toBe(
      `${caller.simulator.assets}/bfl/v1/get_result?id=${String(submitted.json['id'])}`,
    );
    const pending = await call(pollingUrl);
    expect(pending.json).toEqual({
      id: submitted.json['id'],
      status: 'Pending',
      result: null,
      progress: null,
      details: null,
      preview: null,
    });
    await caller.advance(600);
    const ready = await call(pollingUrl);
    expect(ready.json).toMatchObject({ status: 'Ready', result: { prompt: 'a cat', duration: 0.6 } });
    expect((await call(pollingUrl)).text).toBe(ready.text);
    const asset = await fetch(sampleOf(ready.json));
    expect(asset.headers.get('content-type')).toBe('image/png');
    expect(PNG.sync.read(Buffer.from(await asset.arrayBuffer())).width).toBe(512);
  });

  it('gives a 64-bit seed back digit by digit', async () => {
    const { json } = await caller.bfl('{"prompt":"a","seed":9223372036854775807}');
    await caller.advance(600);
    expect((await call(String(json['polling_url']))).text).toContain('"seed":9223372036854775807,');
  });

  it('lets an asset URL live ten minutes, and only as it was signed', async () => {
    const url = sampleOf(await finished('a cat'));
    expect((await call(url.replace(/sig=.{4}/, 'sig=AAAA'))).status).toBe(403);
    expect((await call(url.replace(/\?.*/, ''))).status).toBe(403);
    await caller.advance(599_000);
    expect((await call(url)).status).toBe(200);
    await caller.advance(1_000);
    expect((await call(url)).status).toBe(403);
  });

  it.each([
    ['[[sim:policy_submit]]', 'Request Moderated'],
    ['[[sim:policy_output]]', 'Content Moderated'],
    ['[[sim:job_failed]]', 'Error'],
  ])('answers %s with 200 and status %s', async (prompt, status) => {
    const json = await finished(prompt);
    expect(json).toMatchObject({ status, result: null });
    expect(json['details']).not.toBeNull();
  });

  it('reports an unknown status on the way and then finishes', async () => {
    const { json } = await caller.bfl({ prompt: '[[sim:unknown_status]]' });
    expect((await call(String(json['polling_url']))).json['status']).toBe('Generating');
    await caller.advance(600);
    expect((await call(String(json['polling_url']))).json['status']).toBe('Ready');
  });

  it('can be ready without a sample', async () => {
    expect(await finished('[[sim:no_asset]]')).toMatchObject({
      status: 'Ready',
      result: { seed: expect.any(Number) },
    });
    expect(sampleOf(await finished('[[sim:no_asset]]'))).toBeUndefined();
  });

  it('can give an id above 2^53', async () => {
    const { text, json } = await caller.bfl({ prompt: '[[sim:int64_id]]' });
    const id = /"id":(\d{19}),/.exec(text)?.[1];
    expect(String(json['polling_url'])).toContain(`id=${id}`);
    expect((await call(String(json['polling_url']))).text).toContain(`"id":${id},`);
  });

  it('wants a key, JSON and a prompt', async () => {
    const url = `${caller.simulator.api}/bfl/v1/flux-2-pro`;
    const typed = { 'content-type': 'application/json' };
    const post = (headers: Record<string, string>, body: string, at = url) =>
      call(at, { method: 'POST', headers, body });
    expect((await post(typed, '{"prompt":"a"}')).status).toBe(403);
    expect((await post({ ...typed, 'x-key': '' }, '{"prompt":"a"}')).status).toBe(403);
    expect((await post({ 'content-type': 'text/plain', 'x-key': 'k' }, '{"prompt":"a"}')).status).toBe(415);
    const key = { ...typed, 'x-key': 'k' };
    expect((await post(key, '{"prompt":')).json).toMatchObject({ detail: [{ type: 'json_invalid' }] });
    expect((await post(key, '[]')).json).toMatchObject({ detail: [{ type: 'model_attributes_type' }] });
    expect((await post(key, '{"prompt":7}')).json).toMatchObject({
      detail: [{ type: 'string_type', input: 7 }],
    });
    const missing = await post(key, '{}');
    expect(missing.status).toBe(422);
    expect(missing.json).toMatchObject({ detail: [{ type: 'missing', loc: ['body', 'prompt'], input: {} }] });
    expect((await post(key, '{}', url.replace('flux-2-pro', 'flux-pro-1.1'))).status).toBe(200);
    expect(await caller.entries()).toHaveLength(1);
  });

  it('knows no other task', async () => {
    const answer = await call(`${caller.simulator.assets}/bfl/v1/get_result?id=x`);
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ id: 'x', status: 'Task not found', result: null });
  });
});
