import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  newTag,
  ownStorage,
  sha256,
  sharedSystem,
  type TestCaller,
  transports,
} from '../harness/index.js';

describe.each(transports().slice(0, 1))('bytes and links on %s', (transport) => {
  const system = sharedSystem(transport);
  let caller: TestCaller;

  beforeAll(async () => {
    caller = await system.caller();
  });

  const run = async (model: string, body: string) => {
    const submitted = await caller.submit(model, body);
    await caller.completed(submitted, 60_000);
    return caller.collect(submitted);
  };
  const entryOf = async (tag: string) => {
    const [entry, ...more] = await system.provider.ledger(tag);
    if (!entry || more.length > 0) throw new Error(`${tag}: ${more.length} too many`);
    return entry;
  };

  it('20 MB of base64 and a 64-bit seed reach the provider byte for byte', async () => {
    const tag = newTag('large');
    const picture = Buffer.alloc(15_000_000, 'a picture ').toString('base64');
    const body = `{ "prompt":"[[sim:tag=${tag}]]",\t"image":"${picture}", "cfg_scale": 0.50,"model_name":"kling-v2-5-turbo" }\n`;
    expect(body.length).toBeGreaterThan(20_000_000);
    const answer = await run('kling/kling-v2-5-turbo', body);
    expect([answer.status, (await entryOf(tag)).bodySha256]).toEqual([200, sha256(Buffer.from(body))]);
  });

  it('an audio result has the provider’s bytes and content type', async () => {
    const tag = newTag('sound');
    const answer = await run('openai/tts-1', `{"model":"tts-1","voice":"ash","input":"[[sim:tag=${tag}]]"}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect((await entryOf(tag)).replySha256).toBe(sha256(answer.bytes));
    // An MPEG-2 layer III frame.
    expect(answer.bytes.readUInt16BE()).toBe(0xfff3);
  });

  it('the voice of the input becomes part of the address', async () => {
    const tag = newTag('voice');
    const answer = await run(
      'elevenlabs/eleven_flash_v2_5',
      `{"voice_id":"JBFqnCBsd6RMkjVDRZzb","text":"[[sim:tag=${tag}]]","seed":18446744}`,
    );
    const { model, bodyBase64 } = await entryOf(tag);
    expect([answer.status, model, Buffer.from(bodyBase64, 'base64').toString()]).toEqual([
      200,
      'JBFqnCBsd6RMkjVDRZzb',
      `{"model_id":"eleven_flash_v2_5","text":"[[sim:tag=${tag}]]","seed":18446744}`,
    ]);
  });

  it('one model both generates and edits images', async () => {
    const tag = newTag('edit');
    const image = 'data:image/png;base64,iVBORw0KGgo=';
    const answer = await run(
      'openai/gpt-image-2',
      `{"prompt":"[[sim:tag=${tag}]]","image":"${image}","n":1}`,
    );
    expect([answer.status, Buffer.from((await entryOf(tag)).bodyBase64, 'base64').toString()]).toEqual([
      200,
      `{"model":"gpt-image-2","prompt":"[[sim:tag=${tag}]]","images":[{"image_url":"${image}"}],"n":1}`,
    ]);
  });

  it('the events of a stream are the result of its run, and it bills the tokens used', async () => {
    const tag = newTag('text');
    const said = `"messages":[{"role":"user","content":"[[sim:tag=${tag}]]"}] }`;
    const answer = await run('anthropic/claude-opus-5', `{ "max_tokens":64, "stream" : true,${said}`);
    const { bodyBase64, replySha256 } = await entryOf(tag);
    expect(Buffer.from(bodyBase64, 'base64').toString()).toBe(
      `{"model":"claude-opus-5", "max_tokens":64, "stream" : true,${said}`,
    );
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(sha256(answer.bytes)).toBe(replySha256);
    // 16 tokens at 5 dollars a million, and 12 at 25.
    expect(answer.headers.get('x-service-cost-cents')).toBe('0.038');
  });

  it('a URL is rejected before the call if the provider takes the file itself', async () => {
    const answer = await run('stability/upscale-fast', '{"image":"https://a.example/x.png"}');
    expect(answer.status).toBe(422);
    expect(answer.json()).toMatchObject({
      detail: [{ loc: ['body', 'image'], msg: expect.stringMatching(/^This model takes the file itself: /) }],
    });
  });

  it('Veo writes to our own storage, and the caller gets a link signed for 24 hours', async () => {
    const tag = newTag('stored');
    const answer = await run(
      'veo/veo-3.1-generate-001',
      `{"instances":[{"prompt":"[[sim:tag=${tag}]]"}],"parameters":{"seed":4294967295}}`,
    );
    const { bodyBase64 } = await entryOf(tag);
    expect(Buffer.from(bodyBase64, 'base64').toString()).toMatch(
      /^\{"instances":\[.*\],"parameters":\{"storageUri":"gs:\/\/router-clips\/veo\/[0-9a-f-]{36}\/","seed":4294967295\}\}$/,
    );
    const { response } = answer.json() as { response: { videos: { gcsUri: string }[] } };
    const link = new URL(response.videos[0]?.gcsUri ?? '');
    const { host, pathname } = new URL(ownStorage);
    expect(link.origin).toBe('https://storage.googleapis.com');
    expect(link.pathname).toMatch(new RegExp(`^/${host}${pathname}/[0-9a-f-]{36}/`));
    expect(link.searchParams.get('X-Goog-Expires')).toBe('86400');
    expect(link.searchParams.get('X-Goog-Signature')).toMatch(/^[0-9a-f]{512}$/);
  });
});

failOnLeftovers();
