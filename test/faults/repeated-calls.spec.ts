import { afterAll, beforeAll, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import {
  failOnLeftovers,
  newTag,
  type TcpProxy,
  tcpProxy,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

let system: System;
let balancer: TcpProxy;
/** Where new connections go. */
const target = { port: 0 };

beforeAll(async () => {
  system = await System.start({ transport: transports()[0] ?? 'postgres', gateways: 2 });
  balancer = await tcpProxy(target);
});
afterAll(async () => {
  await balancer.close();
  await system.stop();
});

it('a client without a key whose gateway is killed gets the result from another one, and pays once', async () => {
  const caller = await system.caller();
  const [killed, other] = system.gateways as [App, App];
  target.port = killed.port;
  const tag = newTag('killed');
  const client = new OpenAI({ baseURL: `http://${balancer.address}/openai/v1`, apiKey: caller.key });
  const answer = client.responses.create({ model: 'gpt-5.5', input: `[[sim:tag=${tag}]] ${unending}` });
  const accepted = async () => (await system.provider.ledger(tag)).length;
  await waitFor(async () => (await accepted()) === 1, { withinMs: 60_000, what: 'the submission' });

  target.port = other.port;
  await system.kill(killed);
  const joined = async () =>
    (await system.sql('SELECT FROM joined_call WHERE workspace_id = $1', [caller.workspaceId])).length;
  await waitFor(async () => (await joined()) === 1, {
    withinMs: 60_000,
    what: 'the client to repeat its call',
  });
  await system.provider.finish(tag);
  expect((await answer).output_text).not.toBe('');
  expect(await accepted()).toBe(1);

  const again = client.responses.create({ model: 'gpt-5.5', input: `[[sim:tag=${tag}]] ${unending}` });
  await waitFor(async () => (await accepted()) === 2, {
    withinMs: 60_000,
    what: 'a call that is equal on purpose',
  });
  await system.provider.finish(tag);
  await again;
  await holdToInvariants(system);
});

failOnLeftovers();
