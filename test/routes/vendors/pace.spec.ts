import { describe, expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { anthropic, gemini, openai, type VendorSide } from './vendor-calls.js';

const gateway = sharedGateway();

const send = (side: VendorSide, key: string) => {
  const { path, body } = side.call(side.model);
  return fetch(`${gateway().url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...side.credential(key) },
    body,
    signal: AbortSignal.timeout(30_000),
  });
};

/** The headers about limits without the time of the reset, and the seconds until then. */
function paceOf({ headers }: Response) {
  const pace = Object.fromEntries([...headers].filter(([name]) => name.includes('ratelimit')));
  const reset = pace['x-ratelimit-reset-requests'] ?? pace['anthropic-ratelimit-requests-reset'] ?? '';
  const seconds = /^\d+s$/.test(reset) ? parseInt(reset, 10) : (Date.parse(reset) - Date.now()) / 1000;
  delete pace['x-ratelimit-reset-requests'];
  delete pace['anthropic-ratelimit-requests-reset'];
  return { pace, seconds };
}

describe.each([
  [openai, 'x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests'],
  [anthropic, 'anthropic-ratelimit-requests-limit', 'anthropic-ratelimit-requests-remaining'],
] as const)('a call of $base', (side, limit, remaining) => {
  it('says how many runs the workspace may begin and has left in this minute', async () => {
    const { caller, workspace } = await gateway().caller({ windowLimit: 7 });
    const answering = send(side, caller.key);
    const run = await gateway().admittedRun(workspace);
    await gateway().finish(run, {
      outcome: 'failed',
      bucket: 'provider_error',
      status: 502,
      detail: 'It failed.',
      billable: false,
    });
    const answer = await answering;
    const { pace, seconds } = paceOf(answer);
    expect([answer.status, pace]).toEqual([502, { [limit]: '7', [remaining]: '6' }]);
    expect(seconds).toBeLessThanOrEqual(61);
  });

  it('says so when it is refused', async () => {
    const { caller } = await gateway().caller({ windowLimit: 0 });
    const answer = await send(side, caller.key);
    const { pace, seconds } = paceOf(answer);
    expect([answer.status, pace]).toEqual([429, { [limit]: '0', [remaining]: '0' }]);
    expect(seconds).toBeGreaterThan(-2);
    expect(seconds).toBeLessThanOrEqual(61);
  });
});

it('names no limits to clients that do not read them', async () => {
  const { caller } = await gateway().caller({ windowLimit: 0 });
  const answer = await send(gemini, caller.key);
  expect([answer.status, paceOf(answer).pace]).toEqual([429, {}]);
});
