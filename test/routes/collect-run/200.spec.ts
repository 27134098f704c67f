import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['application/json', Buffer.from('{ "seed":18446744073709551615, "a": 1.0, "a": 2 }\n')],
  ['application/json; charset=utf-8', Buffer.from('{"é":"\\u00e9"}')],
  ['audio/mpeg', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ['text/html', Buffer.from('<script>alert(1)</script>')],
  ['application/json', Buffer.alloc(0)],
])('%s is returned byte for byte, any number of times', async (mediaType, body) => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await gateway().finish(run, { outcome: 'succeeded', mediaType, body });
  for (let nth = 0; nth < 2; nth += 1) {
    const answer = await caller.collect(run);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe(mediaType);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.bytes.equals(body)).toBe(true);
  }
});
