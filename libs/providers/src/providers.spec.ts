import { BadSettings } from '#schemas';
import { describe, expect, it } from '@jest/globals';

import { bindProviders, providerList, providerSettings } from './providers.js';

describe('bindProviders', () => {
  it('binds every provider to its own base URL and lists those without a key', () => {
    const { providers, withoutKey } = bindProviders({ PROVIDER_BFL_KEY: ' the-key\n' });
    expect([...providers.keys()]).toEqual(providerList.map(({ name }) => name));
    expect(providers.get('bfl')).toMatchObject({
      base: 'https://api.bfl.ai',
      keys: [{ name: 'default', secret: 'the-key' }],
      submitTimeoutMs: 30_000,
    });
    expect(providers.get('fal')?.keys).toEqual([]);
    expect(withoutKey).toEqual(providerList.map(({ name }) => name).filter((name) => name !== 'bfl'));
  });

  it('are simulated if their base URL is on the simulator', () => {
    const { providers } = bindProviders({
      SIMULATOR_URL: 'http://127.0.0.1:4010',
      PROVIDER_FAL_BASE_URL: 'http://127.0.0.1:4010/fal',
      PROVIDER_BFL_BASE_URL: 'http://127.0.0.1:4011/bfl',
    });
    expect(['fal', 'bfl', 'luma'].map((name) => providers.get(name)?.simulated)).toEqual([
      true,
      false,
      false,
    ]);
    const { providers: real } = bindProviders({ PROVIDER_FAL_BASE_URL: 'http://127.0.0.1:4010/fal' });
    expect(real.get('fal')?.simulated).toBe(false);
  });

  it('accepts another base URL and drops its trailing slash', () => {
    const { providers } = bindProviders({ PROVIDER_FAL_BASE_URL: 'http://127.0.0.1:4010/fal/' });
    const call = providers.get('fal')?.adapter.submit({
      runId: 'r',
      model: 'fal/flux-dev',
      upstream: { path: 'fal-ai/flux/dev' },
      body: new Uint8Array(),
    });
    expect(call?.url).toBe('http://127.0.0.1:4010/fal/fal-ai/flux/dev');
  });

  it('derives the names of variables from any provider name', () => {
    const [first] = providerList;
    if (!first) throw new Error('no provider');
    const { providers } = bindProviders({ PROVIDER_MY_PROVIDER_2_KEY: 'k' }, [
      { ...first, name: 'my-provider.2' },
    ]);
    expect(providers.get('my-provider.2')?.keys).toMatchObject([{ secret: 'k' }]);
  });

  it.each(['not a url', 'ftp://api.bfl.ai', 'https://user:pass@api.bfl.ai', 'https://api.bfl.ai?x=1'])(
    'rejects %s',
    (base) => {
      const bind = () => bindProviders({ PROVIDER_BFL_BASE_URL: base, PROVIDER_FAL_BASE_URL: 'mailto:x' });
      expect(bind).toThrow(BadSettings);
      expect(bind).toThrow(/PROVIDER_BFL_BASE_URL: .*\n.*PROVIDER_FAL_BASE_URL: /);
    },
  );

  it('documents every setting', () => {
    for (const [name, schema] of Object.entries(providerSettings)) {
      expect([name, schema.meta()]).toEqual([
        name,
        expect.objectContaining({ description: expect.stringMatching(/\.$/), example: expect.any(String) }),
      ]);
    }
  });
});
