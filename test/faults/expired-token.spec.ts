import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, type TestCaller, transports } from '../harness/index.js';

// A system of its own, because the provider's clock moves and its token requests are counted.
describe('a service account’s key', () => {
  let system: System;
  let caller: TestCaller;

  beforeAll(async () => {
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      takesMs: 50,
      issuedKeys: true,
    });
    caller = await system.caller();
  });
  afterAll(() => system.stop());

  const pictureOf = async (tag: string) => {
    const run = await caller.submit(
      'vertexai/gemini-3-pro-image',
      `{"contents":[{"role":"user","parts":[{"text":"[[sim:tag=${tag}]]"}]}]}`,
    );
    await caller.completed(run, 60_000);
    return caller.collect(run);
  };
  const exchanges = async () => {
    const response = await fetch(`${system.simulator.url}/requests?path=/google/token`);
    const { requests } = (await response.json()) as { requests: { credential: boolean }[] };
    expect(requests.filter(({ credential }) => credential)).toEqual([]);
    return requests.length;
  };

  it('is exchanged once, and again when the provider no longer accepts the token', async () => {
    expect((await pictureOf('first')).status).toBe(200);
    expect(await exchanges()).toBe(1);
    expect((await pictureOf('first again')).status).toBe(200);
    expect(await exchanges()).toBe(1);
    await system.provider.advance(1_900_000);
    expect((await pictureOf('second')).status).toBe(200);
    expect(await exchanges()).toBe(2);
    expect(await system.provider.ledger('second')).toHaveLength(1);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
