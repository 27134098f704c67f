import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provider, row } from '../catalog/own-rows.js';
import {
  eitherTransport,
  failOnLeftovers,
  json,
  newTag,
  ScriptedServer,
  sharedSystem,
  type TestCaller,
} from '../harness/index.js';

const beta = 'context-management-2025-06-27, interleaved-thinking-2025-05-14';
const body = '{"prompt":"x"}';

describe.each(eitherTransport())('headers that are input on %s', (transport) => {
  const system = sharedSystem(transport);
  const name = `beta-${transport}`;
  const path = `/v2/models/${name}/paint`;
  let upstream: ScriptedServer;
  let caller: TestCaller;

  beforeAll(async () => {
    upstream = await ScriptedServer.start(json({ done: true }));
    system.giveKey(name, 'lab-key');
    await system.serve({
      [`${name}.yaml`]: provider(
        name,
        upstream.url,
        'input_headers: { anthropic-beta: { priced: [fast-mode-] } }\n',
      ),
      [`${name}-paint.yaml`]: row(`${name}/paint`, 'paint', 10_000),
    });
    caller = await system.caller();
  });
  afterAll(() => upstream.stop());
  failOnLeftovers();

  const lastHeaders = () => upstream.calls.at(-1)?.headers ?? {};

  it('reach the provider byte for byte, synchronously and through the queue, and no others do', async () => {
    const headers = { 'anthropic-beta': beta, 'openai-beta': 'a=v1', 'openai-organization': 'o' };
    expect((await caller.call('POST', path, { body, headers })).status).toBe(200);
    expect(lastHeaders()).toMatchObject({ 'anthropic-beta': beta, 'x-lab-key': 'lab-key' });
    expect(Object.keys(lastHeaders())).not.toContain('openai-beta');
    expect(Object.keys(lastHeaders())).not.toContain('openai-organization');

    const run = await caller.submit(`${name}/paint`, body, { headers: { 'anthropic-beta': beta } });
    await caller.completed(run);
    expect(lastHeaders()['anthropic-beta']).toBe(beta);

    expect((await caller.call('POST', path, { body })).status).toBe(200);
    expect(Object.keys(lastHeaders())).not.toContain('anthropic-beta');
  });

  it('are a part of the request that an Idempotency-Key stands for, unless their value is the usual one', async () => {
    const key = newTag('beta');
    const send = (headers: Record<string, string>) =>
      caller.call('POST', path, { body, headers: { 'idempotency-key': key, ...headers } });
    expect((await send({})).status).toBe(200);
    expect((await send({ 'anthropic-version': '2023-06-01' })).headers.get('idempotent-replayed')).toBe(
      'true',
    );
    expect((await send({ 'anthropic-beta': beta })).status).toBe(409);
    expect((await send({ 'anthropic-version': '2024-01-01' })).status).toBe(409);
  });

  it.each([
    ['a value with a price of its own', 'a-2025-01-01,fast-mode-2026-02-01', 'fast-mode-2026-02-01'],
    ['8,193 bytes', 'x'.repeat(8_193), '8192 bytes'],
    ['a character beyond ASCII', 'é', 'visible ASCII'],
  ])('%s is refused by name, and nothing is sent', async (_what, value, said) => {
    const before = upstream.calls.length;
    const answer = await caller.call('POST', path, { body, headers: { 'anthropic-beta': value } });
    expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
    expect(answer.json()['detail']).toContain(said);
    expect(upstream.calls).toHaveLength(before);
  });
});
