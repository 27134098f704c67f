import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { memoryRises, System } from '../harness/faults.js';
import {
  type Caller,
  content,
  failOnLeftovers,
  json,
  type Reply,
  ScriptedServer,
  transports,
} from '../harness/index.js';

const mebibyte = 1024 * 1024;
const allowance = 60 * mebibyte;
/** A video as far as its first bytes are concerned. */
const video = Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom'), randomBytes(90 * mebibyte)]);
const sha256 = createHash('sha256').update(video).digest('hex');

/** Digests of the files that providers received, by the way they came. */
const got: Record<string, string> = {};

async function digestOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
}

/** The digest of the only file in a form. */
function digestInForm(body: Buffer): string {
  const start = body.indexOf('\r\n\r\n', body.indexOf('name="image"')) + 4;
  const end = body.indexOf('\r\n--form-', start);
  return createHash('sha256').update(body.subarray(start, end)).digest('hex');
}

const image = json({ data: [{ b64_json: 'eA==' }] });
const answer: Reply = async (call, ...rest) => {
  if (call.headers['content-type']?.startsWith('multipart/')) {
    const isEdit = call.path.endsWith('/images/edits');
    got[isEdit ? 'edit' : 'form'] = digestInForm(call.bytes);
    return (isEdit ? image : content('image/png', 'an image'))(call, ...rest);
  }
  const [url = ''] = /http:[^"]+/.exec(call.text) ?? [];
  const file = await fetch(url);
  got['url'] = await digestOf(file.body as unknown as AsyncIterable<Uint8Array>);
  return image(call, ...rest);
};

let provider: ScriptedServer;
let system: System;
let caller: Caller;
beforeAll(async () => {
  provider = await ScriptedServer.start(answer);
  const { url } = provider;
  system = await System.start({
    transport: transports()[0] ?? 'postgres',
    env: { PROVIDER_OPENAI_BASE_URL: `${url}/v1`, PROVIDER_STABILITY_BASE_URL: `${url}/v2beta` },
  });
  caller = await system.caller();
});
afterAll(async () => {
  await system.stop();
  await provider.stop();
});

const upload = async (file: Buffer) =>
  String((await caller.call('POST', '/v2/files', { body: file, withinMs: 120_000 })).json()['url']);

const run = async (model: string, input: object) => {
  const body = JSON.stringify(input);
  const answer = await caller.call('POST', `/v2/models/${model}`, { body, withinMs: 120_000 });
  expect([answer.status, answer.bytes.toString()]).toEqual([200, expect.any(String)]);
};

const journey = async (file: Buffer) => {
  const image = await upload(file);
  await run('openai/gpt-image-1.5', { prompt: 'x', image });
  await run('stability/stable-image-ultra', { prompt: 'x', image });
};

const edit = async (image: Buffer) => {
  const form = new FormData();
  form.append('image', new Blob([image]), 'a.png');
  form.append('prompt', 'x');
  form.append('model', 'gpt-image-2');
  const answer = await fetch(`${system.gateways[0]?.url}/openai/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key}` },
    body: form,
    signal: AbortSignal.timeout(120_000),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('b64_json')]);
};

const risesDuring = (what: string, act: () => Promise<unknown>) =>
  memoryRises(what, [...system.gateways, ...system.workers], act);

it('a video of 90 MiB is uploaded, and sent to providers by URL and in a form, in constant memory', async () => {
  // A warm-up, so that the baseline includes everything that is loaded on first use.
  await journey(video.subarray(0, 1000));
  const rises = await risesDuring('90 MiB', () => journey(video));
  expect(got).toMatchObject({ url: sha256, form: sha256 });
  for (const rise of rises) expect(rise).toBeLessThan(allowance);
});

it('four forms of almost 25 MiB at once are stored and sent on in constant memory', async () => {
  await edit(video.subarray(0, 1000));
  const image = video.subarray(0, 24 * mebibyte);
  const rises = await risesDuring('4 × 24 MiB', () => Promise.all([1, 2, 3, 4].map(() => edit(image))));
  expect(got).toMatchObject({ edit: createHash('sha256').update(image).digest('hex') });
  for (const rise of rises) expect(rise).toBeLessThan(allowance);
});

failOnLeftovers();
