import { describe, expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const gateway = sharedGateway();

describe.each(generations)('429 on %s', (generation) => {
  const call = async (facts: Parameters<ReturnType<typeof gateway>['caller']>[0]) => {
    const { caller, workspace } = await gateway().caller(facts);
    // Takes 7.5 of the cents that the limit on committed spend allows, and stays in flight.
    if (facts?.committedLimitMicros !== undefined)
      await caller.submit('bfl/flux-2-pro', '{"prompt":"in flight"}');
    return caller.call('POST', `/${generation}/models/bfl/flux-2-pro`, {
      body: '{"prompt":"x"}',
      headers: await bearer(workspace.id),
    });
  };

  it('names the calls in flight, without the headers of spend', async () => {
    const answer = await call({ inflightLimit: 0 });
    expect([answer.status, answer.bucket]).toEqual([429, 'concurrency_limit_exceeded']);
    expect(answer.json()['detail']).toMatch(/calls in flight/);
    for (const name of ['limit', 'current', 'remaining'])
      expect(answer.headers.has(`x-committed-spend-${name}`)).toBe(false);
  });

  it('names the committed spend, with its three headers in cents', async () => {
    const answer = await call({ committedLimitMicros: 100_000 });
    expect([answer.status, answer.bucket]).toEqual([429, 'concurrency_limit_exceeded']);
    expect(answer.json()['detail']).toMatch(/committed spend/);
    expect(answer.headers.get('x-committed-spend-limit')).toBe('10');
    expect(answer.headers.get('x-committed-spend-current')).toBe('8');
    // Positive, because the rejected call costs more than what is left.
    expect(answer.headers.get('x-committed-spend-remaining')).toBe('2');
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('is rate_limited when the window is used up, and says so', async () => {
    const answer = await call({ windowLimit: 0 });
    expect([answer.status, answer.bucket]).toEqual([429, 'rate_limited']);
    expect(answer.json()['detail']).toMatch(/per minute/);
    expect(answer.headers.has('retry-after')).toBe(false);
  });
});
