import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  newTag,
  sharedSystem,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';
import { ai, type AiVendor, aiVendors, languageModels } from './ai-vendors.js';

const [transport = 'postgres'] = transports();
const system = sharedSystem(transport);
const ledger = (tag: string) => system.provider.ledger(tag);

let caller: TestCaller;
const vendors: Record<string, AiVendor> = {};
const all = (url: string, key: string) => [...aiVendors(url, key), ...languageModels(url, key)];

beforeAll(async () => {
  caller = await system.caller({ inflightLimit: 20 });
  for (const vendor of all(system.gateways[0]?.url ?? '', caller.key)) vendors[vendor.name] = vendor;
});

describe.each(all('http://router.example', 'key').map(({ name, unknown }) => ({ name, unknown })))(
  'the ai SDK with $name',
  ({ name, unknown }) => {
    const vendor = () => vendors[name] as AiVendor;

    it.concurrent('generates and streams text, each as one run', async () => {
      const tag = newTag('ai');
      expect(await vendor().generate(`Say hello. [[sim:tag=${tag}]]`)).not.toBe('');
      const { text, parts } = await vendor().stream(`Say hello. [[sim:tag=${tag}]]`);
      expect(text).not.toBe('');
      expect(parts).toBeGreaterThan(1);
      expect(await ledger(tag)).toHaveLength(2);
    });

    it.concurrent('names the models that an unknown name resembles', async () => {
      const failed = ai.generateText({ model: vendor().model(unknown), prompt: 'x' });
      await expect(failed).rejects.toMatchObject({
        statusCode: 404,
        message: expect.stringContaining('Did you mean'),
      });
    });

    it.concurrent(
      'repeats a call after a failure of the provider, which does not reach the provider again',
      async () => {
        const tag = newTag('ai');
        const prompt = `[[sim:tag=${tag}]] [[sim:html]]`;
        const failed = ai.generateText({ model: vendor().model(), prompt, maxRetries: 1 });
        await expect(failed).rejects.toThrow('after 2 attempts');
        expect(await ledger(tag)).toHaveLength(1);
      },
    );

    it.concurrent('stops the provider when a stream is aborted', async () => {
      const tag = newTag('ai');
      const leaving = new AbortController();
      const reading = vendor().stream(`[[sim:tag=${tag}]] [[sim:stream_hang]]`, leaving.signal, () =>
        leaving.abort(),
      );
      await reading.catch(() => {});
      await waitFor(async () => (await ledger(tag))[0]?.abortedAtMs != null, {
        withinMs: 30_000,
        what: 'the provider to lose the connection',
      });
      expect(await ledger(tag)).toHaveLength(1);
    });
  },
);

failOnLeftovers();
