import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/requests';
/** Too large to be checked between other calls, and too large for the database. */
const filler = 'x'.repeat(2 * 1024 * 1024);

it('a large body is admitted byte for byte, any number of times, while other calls are answered', async () => {
  const { caller } = await gateway().caller();
  const body = `{ "prompt":"é", "seed": 1,\n"input_image":"${filler}" }`;
  const [runs, small] = await Promise.all([
    Promise.all([1, 2, 3].map(() => caller.submit('bfl/flux-2-pro', body))),
    caller.submit('bfl/flux-2-pro', '{"prompt":"x"}'),
  ]);
  expect((await gateway().storedInput(small)).beside).toBe(false);
  for (const run of runs) {
    const { bytes, beside } = await gateway().storedInput(run);
    expect([beside, bytes.equals(Buffer.from(body))]).toEqual([true, true]);
  }
});

it('large bodies are rejected for the same reasons as small ones', async () => {
  const { caller } = await gateway().caller();
  const rejected = await caller.call('POST', path, { body: `{"input_image":"${filler}"}` });
  expect([rejected.status, rejected.bucket]).toEqual([422, 'invalid_input']);
  expect(rejected.json()).toMatchObject({ detail: [{ loc: ['body', 'prompt'], type: 'missing' }] });
  for (const body of [`{"prompt":"${filler}`, `["${filler}"]`, `{"a":${'['.repeat(64)}"${filler}"`]) {
    const malformed = await caller.call('POST', path, { body });
    expect([malformed.status, malformed.bucket]).toEqual([400, 'invalid_input']);
  }
});
