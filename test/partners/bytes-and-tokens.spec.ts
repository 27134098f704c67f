import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { failOnLeftovers, holdToInvariants, sha256, System, transports } from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const storage = 'gs://router-clips/veo';

const pictureOf = (tag: string) =>
  `{"instances":[{"prompt":"[[sim:tag=${tag}]]"}],"parameters":{"sampleCount":1}}`;

describe('bytes, tokens and links', () => {
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      takesMs: 50,
      issuedKeys: true,
      env: { PROVIDER_GOOGLE_STORAGE_URI: storage, PROVIDER_POLL_PAUSE_MS: '300' },
    });
    caller = await system.caller();
  });
  afterAll(() => system.stop());

  const run = async (model: string, body: string) => {
    const submitted = await caller.submit(model, body);
    await caller.completed(submitted, 60_000);
    return caller.collect(submitted);
  };
  const entryOf = async (tag: string) => {
    const [entry, ...more] = await system.partner.ledger(tag);
    if (!entry || more.length > 0) throw new Error(`${tag}: ${more.length} too many`);
    return entry;
  };

  it('brings 20 MB of base64 and a 64-bit seed to the partner byte for byte', async () => {
    const picture = Buffer.alloc(15_000_000, 'a picture ').toString('base64');
    const body = `{ "prompt":"[[sim:tag=large]]",\t"image":"${picture}", "cfg_scale": 0.50,"model_name":"kling-v2-1" }\n`;
    expect(body.length).toBeGreaterThan(20_000_000);
    const answer = await run('kling/kling-v2.1-image-to-video', body);
    expect([answer.status, (await entryOf('large')).bodySha256]).toEqual([200, sha256(Buffer.from(body))]);
  });

  it('gives out a sound as the partner’s own bytes under its own content type', async () => {
    const answer = await run('openai/tts-1', '{"model":"tts-1","voice":"ash","input":"[[sim:tag=sound]]"}');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect((await entryOf('sound')).replySha256).toBe(sha256(answer.bytes));
    expect(answer.bytes.readUInt16BE()).toBe(0xfffb);
  });

  it('has Veo write to our own storage, and gives out a link signed for 24 hours', async () => {
    const answer = await run(
      'google/veo-3.1',
      '{"instances":[{"prompt":"[[sim:tag=stored]]"}],"parameters":{"seed":4294967295}}',
    );
    const { bodyBase64 } = await entryOf('stored');
    expect(Buffer.from(bodyBase64, 'base64').toString()).toMatch(
      /^\{"instances":\[.*\],"parameters":\{"storageUri":"gs:\/\/router-clips\/veo\/[0-9a-f-]{36}\/","seed":4294967295\}\}$/,
    );
    const { response } = answer.json() as { response: { videos: { gcsUri: string }[] } };
    const link = new URL(response.videos[0]?.gcsUri ?? '');
    expect(link.origin + link.pathname).toMatch(
      /^https:\/\/storage\.googleapis\.com\/router-clips\/veo\/[0-9a-f-]{36}\//,
    );
    expect(link.searchParams.get('X-Goog-Expires')).toBe('86400');
    expect(link.searchParams.get('X-Goog-Signature')).toMatch(/^[0-9a-f]{512}$/);
  });

  it('exchanges the service account’s key once, and again when the partner no longer takes the token', async () => {
    const exchanges = async () => {
      const response = await fetch(`${system.simulator.url}/requests?path=/google/token`);
      const { requests } = (await response.json()) as { requests: { credential: boolean }[] };
      expect(requests.filter(({ credential }) => credential)).toEqual([]);
      return requests.length;
    };
    expect((await run('google/imagen-4-fast', pictureOf('first'))).status).toBe(200);
    expect(await exchanges()).toBe(1);
    await system.partner.advance(1_900_000);
    expect((await run('google/imagen-4-fast', pictureOf('second'))).status).toBe(200);
    expect(await exchanges()).toBe(2);
    await entryOf('second');
  });

  it('holds to every rule', () => holdToInvariants(system));
});
failOnLeftovers();
