import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System } from '../../harness/faults.js';
import { failOnLeftovers, type TestCaller, transports } from '../../harness/index.js';
import { Installed } from './installed.js';

/** The parts of the package that are used here. */
interface Package {
  comfy: {
    config(options: { credentials: string; baseUrl: string }): void;
    models: {
      run(
        id: string,
        input: object,
        options?: object,
      ): Promise<{ data: { result: { sample: string } }; requestId: string | null }>;
    };
  };
}

const model = 'bfl/flux-2-pro';

describe('@comfyorg/sdk 0.1.9', () => {
  let installed: Installed;
  let system: System;
  let caller: TestCaller;
  let comfy: Package['comfy'];

  beforeAll(async () => {
    installed = Installed.packages('@comfyorg/sdk@0.1.9');
    ({ comfy } = await installed.load<Package>('@comfyorg/sdk'));
    system = await System.start({ transport: transports()[0] ?? 'postgres' });
    caller = await system.caller({ balanceMicros: 1_000_000 });
    configure(caller.key);
  });
  afterAll(async () => {
    await system.stop();
    installed.remove();
  });

  const configure = (credentials: string) =>
    comfy.config({ credentials, baseUrl: system.gateways[0]?.url ?? '' });

  it('runs a model, and knows the id of the call', async () => {
    const { data, requestId } = await comfy.models.run(model, { prompt: 'a fox' });
    expect(data.result.sample).toMatch(/^http/);
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('gets the same run again by its idempotency key', async () => {
    const options = { idempotencyKey: 'once' };
    const first = await comfy.models.run(model, { prompt: 'once' }, options);
    const again = await comfy.models.run(model, { prompt: 'once' }, options);
    expect(again.data).toEqual(first.data);
    expect(again.requestId).not.toBe(first.requestId);
  });

  it.each([
    ['an unknown model', 'bfl/none', {}, { name: 'NotFound', code: 'model_not_found' }],
    ['a rejected input', model, { prompt: 1 }, { code: 'invalid_input' }],
  ])('names the error of %s', async (_what, id, input, error) => {
    await expect(comfy.models.run(id, input, { retry: false })).rejects.toMatchObject({
      ...error,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('names the errors of a bad key and of spent credits', async () => {
    const poor = await system.caller({ balanceMicros: 1 });
    configure(poor.key);
    await expect(comfy.models.run(model, { prompt: 'a fox' }, { retry: false })).rejects.toMatchObject({
      name: 'InsufficientCredits',
    });
    configure('rk_live_none');
    await expect(comfy.models.run(model, { prompt: 'a fox' }, { retry: false })).rejects.toMatchObject({
      name: 'Unauthorized',
    });
  });
});

failOnLeftovers();
