import { beforeAll, expect, it } from '@jest/globals';
import { least } from '../harness/faults.js';
import { type Caller } from '../harness/index.js';
import { gatewayForFile } from '../routes/gateways.js';

const gateway = gatewayForFile({ BODY_CHECK_TIMEOUT_MS: '60000', STORE_PAYLOAD_MS: '60000' });
const submission = '/v2/models/bfl/flux-2-pro/requests';

let caller: Caller;
beforeAll(async () => {
  ({ caller } = await gateway().caller());
});

/** The gateway's longest event-loop pause since the last call of this function, in milliseconds. */
async function longestPauseMs(): Promise<number> {
  const text = await (await fetch(`${gateway().internalUrl}/metrics`)).text();
  return Number(/^router_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000;
}

const mebibyte = 1024 * 1024;
const fill = (size: number, piece: string) => piece.repeat(size / piece.length - 50);

/**
 * A typical machine parses a MiB of the smallest objects in less than 50 ms; on a slower one, the pause may last
 * as long as that takes.
 */
function allowedMs(): number {
  const text = `[${fill(mebibyte, '{},')}{}]`;
  const parseMs = Array.from({ length: 3 }, () => {
    const startedMs = performance.now();
    JSON.parse(text);
    return performance.now() - startedMs;
  });
  return Math.max(50, Math.min(...parseMs));
}

it.each([
  ['10,000 nested arrays', 400, `{"prompt":"x","a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ['as many empty objects as are checked at once', 201, `{"prompt":"x","a":[${fill(64 * 1024, '{},')}{}]}`],
  ['a string of 32 MiB', 201, `{"prompt":"x","input_image":"${fill(32 * mebibyte, 'x')}"}`],
  ['32 MiB of numbers', 201, `{"prompt":"x","a":[${fill(32 * mebibyte, '0,')}0]}`],
  ['120,000 small arrays', 422, `{"prompt":1,"a":[${'[1],'.repeat(120_000)}[]]}`],
  ['999,000 empty objects', 422, `{"prompt":1,"a":[${'{},'.repeat(999_000)}{}]}`],
  ['32 MiB of empty objects', 400, `{"prompt":"x","a":[${fill(32 * mebibyte, '{},')}{}]}`],
])('%s block other calls for less than 50 ms', async (_what, status, body) => {
  // A busy machine causes occasional pauses; the gateway's own pauses occur every time.
  const ofOneCall = async () => {
    await longestPauseMs();
    expect((await caller.call('POST', submission, { body, withinMs: 90_000 })).status).toBe(status);
    return longestPauseMs();
  };
  const allowed = allowedMs();
  expect(await least(allowed, ofOneCall, 24)).toBeLessThan(allowed);
});
