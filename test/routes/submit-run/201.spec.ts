import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { sharedGateway, trustedProxy } from '../gateways.js';

const path = '/v2/models/bfl/flux-2-pro/requests';
const body = '{ "prompt":"x", "seed": 12345678901234567890,\n "seed":  1 , "prompt" : "\\u00e9é" }';

describe('a gateway', () => {
  const gateway = sharedGateway();

  it('answers with the request id and its three URLs, in order', async () => {
    const { caller } = await gateway().caller();
    const answer = await caller.call('POST', path, { body: '{"prompt":"x"}' });
    expect(answer.status).toBe(201);
    const { request_id: id } = answer.json();
    const run = `${gateway().url}${path}/${String(id)}`;
    expect(answer.bytes.toString()).toBe(
      JSON.stringify({
        request_id: id,
        status: 'IN_QUEUE',
        queue_position: 0,
        status_url: `${run}/status`,
        response_url: run,
        cancel_url: `${run}/cancel`,
      }),
    );
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(answer.headers.get('x-service-request-id')).not.toBe(id);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  it('stores the bytes of the body unchanged: numbers, duplicate keys, escapes and white space', async () => {
    const { caller } = await gateway().caller();
    for (const type of ['application/json', 'Application/JSON ; charset="utf-8"']) {
      const run = await caller.submit('bfl/flux-2-pro', body, { headers: { 'content-type': type } });
      expect((await gateway().storedInput(run)).bytes.toString()).toBe(body);
    }
  });

  it('points out fields that are most likely typos, and forwards them all the same', async () => {
    const { caller } = await gateway().caller();
    // A body of this size is checked in a thread.
    const large = 'x'.repeat(70_000);
    for (const prompt of ['x', large]) {
      const misspelled = JSON.stringify({ prompt, hieght: 1024, widht: 'large', 'a b': 1, other: 1 });
      const run = await caller.submit('bfl/flux-2-pro', misspelled);
      expect((await gateway().storedInput(run)).bytes.toString()).toBe(misspelled);
      const answer = await caller.call('POST', path, { body: misspelled });
      expect(answer.headers.get('x-service-unknown-fields')).toBe('hieght (height?), widht (width?)');
    }
    const known = await caller.call('POST', path, { body: '{"prompt":"x","height":1024}' });
    expect([known.status, known.headers.has('x-service-unknown-fields')]).toEqual([201, false]);
  });

  it('reports how many runs of the workspace are ahead', async () => {
    const { caller } = await gateway().caller();
    const positions: unknown[] = [];
    for (let nth = 0; nth < 3; nth += 1) {
      const answer = await caller.call('POST', path, { body: '{"prompt":"x"}' });
      positions.push(answer.json()['queue_position']);
    }
    expect(positions).toEqual([0, 1, 2]);
  });

  it('parks runs above the limit instead of rejecting them', async () => {
    const { caller } = await gateway().caller({ inflightLimit: 1 });
    for (let nth = 0; nth < 3; nth += 1) await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  });

  it('repeats the answer of the same request with the same key, unchanged', async () => {
    const { caller } = await gateway().caller();
    const options = { body: '{"prompt":"x"}', headers: { 'idempotency-key': 'one ~!'.replace(' ', '') } };
    const first = await caller.call('POST', path, options);
    await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
    const again = await caller.call('POST', path, options);
    expect(again.status).toBe(201);
    expect(again.bytes.toString()).toBe(first.bytes.toString());
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  it('creates one run for many simultaneous first uses of a key', async () => {
    const { caller } = await gateway().caller();
    const options = { body: '{"prompt":"x"}', headers: { 'idempotency-key': 'many' } };
    const answers = await Promise.all(Array.from({ length: 20 }, () => caller.call('POST', path, options)));
    expect(new Set(answers.map(({ bytes }) => bytes.toString())).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
  });

  it('keeps the Idempotency-Keys of workspaces apart', async () => {
    const options = { body: '{"prompt":"x"}', headers: { 'idempotency-key': 'shared' } };
    const one = await (await gateway().caller()).caller.call('POST', path, options);
    const other = await (await gateway().caller()).caller.call('POST', path, options);
    expect(other.json()['request_id']).not.toBe(one.json()['request_id']);
  });

  it('builds its URLs on the origin that a trusted proxy forwards, and ignores other forwarders', async () => {
    const { caller } = await gateway().caller();
    const submitted = async (localAddress: string, protocol = 'https') => {
      const answer = await postFrom(localAddress, `${gateway().url}${path}`, {
        'x-api-key': caller.key,
        'x-forwarded-host': 'router.example',
        'x-forwarded-proto': protocol,
      });
      return new URL(answer['status_url'] ?? '').origin;
    };
    expect(await submitted(trustedProxy)).toBe('https://router.example');
    expect(await submitted('127.0.0.1')).toBe(gateway().url);
    expect(await submitted(trustedProxy, 'javascript')).toBe('http://router.example');
    expect(await submitted(trustedProxy, 'HTTPS')).toBe('https://router.example');
  });
});

describe('a gateway with a configured address', () => {
  const gateway = sharedGateway('small');

  it('builds its URLs on that address', async () => {
    const { caller } = await gateway().caller();
    const answer = await caller.call('POST', path, { body: '{"prompt":"x"}' });
    expect(answer.json()['cancel_url']).toMatch(/^https:\/\/router\.example\/v2\/models\/.*\/cancel$/);
  });
});

/**
 * Submits from one of this machine's addresses, which fetch cannot choose, and returns the body of the answer.
 */
async function postFrom(
  localAddress: string,
  url: string,
  headers: Record<string, string>,
): Promise<Record<string, string>> {
  const call = request(url, {
    method: 'POST',
    localAddress,
    agent: false,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  call.end('{"prompt":"x"}');
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(201);
  return (await json(response)) as Record<string, string>;
}
