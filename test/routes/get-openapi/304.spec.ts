import { beforeAll, expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/openapi.json';

let caller: Caller;
let etag: string;
beforeAll(async () => {
  ({ caller } = await gateway().caller());
  etag = (await caller.call('GET', path)).headers.get('etag') ?? '';
});

it.each([
  ['the tag', () => etag],
  ['the tag marked weak', () => `W/${etag}`],
  ['the tag among others', () => `"a", W/"b",${etag}, "c"`],
  ['any tag', () => '*'],
])('%s is answered without a body and with the same headers', async (_what, header) => {
  const answer = await caller.call('GET', path, { headers: { 'if-none-match': header() } });
  expect(answer.status).toBe(304);
  expect(answer.bytes.length).toBe(0);
  expect(answer.headers.get('etag')).toBe(etag);
  expect(answer.headers.get('cache-control')).toBe('private, max-age=300, must-revalidate');
});

it('HEAD does not claim that the document is empty', async () => {
  const answer = await caller.call('HEAD', path, { headers: { 'if-none-match': etag } });
  expect([answer.status, answer.headers.get('etag'), answer.headers.get('content-length')]).toEqual([
    304,
    etag,
    null,
  ]);
});

it('other tags get the document', async () => {
  for (const header of ['"other"', etag.slice(1, -1), '']) {
    const answer = await caller.call('GET', path, { headers: { 'if-none-match': header } });
    expect(answer.status).toBe(200);
  }
});
