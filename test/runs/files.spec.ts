import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { checkout } from '../../apps/local/src/checkout.js';
import { failOnLeftovers, newTag, sharedSystem, type TestCaller, eitherTransport } from '../harness/index.js';

/** An image as far as its signature is concerned; words in it tell the provider how to handle the upload. */
const png = (words = '', length = 70_000) => {
  const data = Buffer.concat([Buffer.from(words), randomBytes(length)]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.alloc(13)),
    chunk('IDAT', data),
  ]);
};

function chunk(kind: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(kind), data, Buffer.alloc(4)]);
}

describe.each(eitherTransport())('a caller’s files in inputs, on %s', (transport) => {
  const system = sharedSystem(transport);
  let caller: TestCaller;
  beforeAll(async () => {
    caller = await system.caller({ inflightLimit: 100 });
  });

  const uploaded = async (file: Buffer, by = caller) => {
    const headers = { 'content-type': 'application/octet-stream' };
    const answer = await by.call('POST', '/v2/files', { body: file, headers });
    expect(answer.status).toBe(201);
    return String(answer.json()['url']);
  };
  const sentBody = async (tag: string) => {
    const [entry, ...more] = await system.provider.ledger(tag);
    if (!entry || more.length > 0) throw new Error(`${tag}: ${more.length} too many`);
    return Buffer.from(entry.bodyBase64, 'base64');
  };
  const sentForm = async (tag: string) => {
    const body = await sentBody(tag);
    const [, boundary] = /^--([^\r]+)/.exec(body.toString('latin1', 0, 100)) ?? [];
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    return new Response(body, { headers }).formData();
  };
  const call = (model: string, input: object, by = caller) =>
    by.call('POST', `/v2/models/${model}`, { body: JSON.stringify(input), withinMs: 60_000 });

  // The simulator rejects an image id that it did not issue to this account.
  it('are uploaded to a provider that takes image ids, and the ids replace them in the input', async () => {
    const tag = newTag('file-upload');
    const prompt = `[[sim:tag=${tag}]]`;
    const img_id = await uploaded(png());
    const video = await call('pixverse/v5-image-to-video', { prompt, duration: 5, quality: '720p', img_id });
    expect([video.status, video.bytes.toString()]).toEqual([200, expect.stringContaining('"status":1')]);
    const sent = (await sentBody(tag)).toString();
    expect(sent).toMatch(/^\{"model":"v5","prompt":"[^"]+","duration":5,"quality":"720p","img_id":\d+\}$/);
  });

  it('are uploaded one by one, whether stored with us or written into the input', async () => {
    const tag = newTag('file-uploads');
    const ours = await uploaded(png());
    const written = `data:image/png;base64,${png().toString('base64')}`;
    const video = await call('pixverse/v5-transition', {
      prompt: `[[sim:tag=${tag}]]`,
      duration: 5,
      quality: '720p',
      first_frame_img: ours,
      last_frame_img: written,
    });
    expect(video.status).toBe(200);
    const { first_frame_img: first, last_frame_img: last } = JSON.parse((await sentBody(tag)).toString());
    expect([typeof first, typeof last, first === last]).toEqual(['number', 'number', false]);
  });

  it('are uploaded again if the provider was busy, but submitted once', async () => {
    const tag = newTag('file-busy');
    const img_id = await uploaded(png('[[sim:503=2]]'));
    const input = { prompt: `[[sim:tag=${tag}]]`, duration: 5, quality: '720p', img_id };
    expect((await call('pixverse/v5-image-to-video', input)).status).toBe(200);
    expect((await system.provider.ledger(tag)).length).toBe(1);
  });

  const place = ['body', 'img_id'];
  it.each([
    // The provider names no field.
    ['an unknown id of the provider', async (): Promise<string | number> => 501, ['body']],
    ['a file that the provider rejects', async () => uploaded(Buffer.from('GIF89a----')), place],
    [
      'a link to nothing',
      async () => (await uploaded(png())).replace(/[0-9a-f]{12}\.png/, '000000000000.png'),
      place,
    ],
    ['a third party’s URL', async () => 'https://example.com/kite.png', place],
    ['a file of another workspace', async () => uploaded(png(), await system.caller()), place],
  ])('are rejected at their field: %s', async (_what, image, loc) => {
    const tag = newTag('file-refused');
    const input = { prompt: `[[sim:tag=${tag}]]`, duration: 5, quality: '720p', img_id: await image() };
    const answer = await call('pixverse/v5-image-to-video', input);
    const [entry] = answer.json()['detail'] as { loc: string[] }[];
    expect([answer.status, entry?.loc]).toEqual([422, loc]);
    expect(await system.provider.ledger(tag)).toEqual([]);
  });

  it('are transcribed, at once or from the queue, and bill the seconds or tokens that the provider reports', async () => {
    const speech = readFileSync(path.join(checkout, 'apps/simulator/media/chime.mp3'));
    const file = await uploaded(speech);
    const tag = newTag('file-speech');
    const heard = await call('openai/whisper-1', {
      file,
      prompt: `[[sim:tag=${tag}]]`,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect([heard.status, heard.json()['text'], heard.headers.get('x-service-cost-cents')]).toEqual([
      200,
      'The harbour lights go out one by one.',
      '0.03',
    ]);
    const form = await sentForm(tag);
    const sent = form.get('file');
    if (!(sent instanceof File)) throw new Error('the form has no file');
    expect(Buffer.from(await sent.arrayBuffer()).equals(speech)).toBe(true);
    // The provider tells the format by the name.
    expect(sent.name).toBe('file.mpeg');
    expect(form.getAll('timestamp_granularities[]')).toEqual(['word', 'segment']);
    expect(form.get('model')).toBe('whisper-1');

    const queued = await caller.submit('openai/gpt-4o-transcribe', JSON.stringify({ file }));
    await caller.completed(queued);
    const collected = await caller.collect(queued);
    // 44 tokens at 2.5 dollars a million, and 12 at 10.
    expect([collected.status, collected.headers.get('x-service-cost-cents')]).toEqual([200, '0.023']);
  });

  it('are sent as a part of the form if the provider takes forms', async () => {
    const file = png('', 3_000_000);
    const tag = newTag('file-form');
    const answer = await call('stability/stable-image-ultra', {
      prompt: `[[sim:tag=${tag}]]`,
      strength: 0.5,
      image: await uploaded(file),
    });
    expect([answer.status, answer.bytes.toString('latin1', 0, 9)]).toEqual([200, expect.any(String)]);
    const image = (await sentForm(tag)).get('image') as File;
    expect([image.name, image.type, image.size]).toEqual(['image.png', 'image/png', file.length]);
    expect(Buffer.from(await image.arrayBuffer()).equals(file)).toBe(true);
  });

  it('are sent as parts of one name if the provider takes several, in the caller’s order', async () => {
    const [first, second, third] = [png('', 300_000), png('', 1000), png('', 90_000)];
    const tag = newTag('file-forms');
    const answer = await call('ideogram/ideogram-4-5', {
      prompt: `[[sim:tag=${tag}]]`,
      images: [
        await uploaded(first),
        `data:image/png;base64,${second.toString('base64')}`,
        await uploaded(third),
      ],
      reference_images: [await uploaded(second)],
      quality: 'low',
    });
    expect([answer.status, answer.bytes.toString()]).toEqual([200, expect.stringContaining('"data"')]);
    const form = await sentForm(tag);
    const bytesOf = (name: string) =>
      Promise.all(form.getAll(name).map(async (file) => Buffer.from(await (file as File).arrayBuffer())));
    expect(await bytesOf('images')).toEqual([first, second, third]);
    expect(await bytesOf('reference_images')).toEqual([second]);
    expect([form.get('quality'), [...form.keys()].length]).toEqual(['low', 6]);
  });

  it('are sent as base64 if the provider takes nothing else, with the caller’s other bytes unchanged', async () => {
    const file = png('', 1_000_001);
    const tag = newTag('file-base64');
    const url = await uploaded(file);
    const before = `{ "instances":[{"prompt":"[[sim:tag=${tag}]]","image":{"mimeType":"image/png",\t"bytesBase64Encoded": "`;
    const after = '"}}],"parameters":{"durationSeconds":4,"seed":1 } }';
    const answer = await caller.call('POST', '/v2/models/google/veo-3.1-fast', {
      body: `${before}${url}${after}`,
      withinMs: 60_000,
    });
    expect([answer.status, answer.bytes.subarray(0, 300).toString()]).toEqual([200, expect.any(String)]);
    const sent = (await sentBody(tag)).toString().replace(/"storageUri":"[^"]*",/, '');
    expect(sent === `${before}${file.toString('base64')}${after}`).toBe(true);
  });
});

failOnLeftovers();
