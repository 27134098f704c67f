import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routerRunCompleted } from '../../libs/schemas/src/webhook.js';
import { failOnLeftovers, newTag, Receiver, sharedSystem, eitherTransport } from '../harness/index.js';

const model = 'bfl/flux-2-pro';
const headers = { 'x-service-tags': 'project=alpha,team=web', 'x-service-user': 'user-7' };
const attribution = { tags: { project: 'alpha', team: 'web' }, user: 'user-7' };

describe.each(eitherTransport())('tags and end users on %s', (transport) => {
  const system = sharedSystem(transport);
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterAll(() => receiver.stop());

  it('are in the records and the webhook of a run, and no provider gets them', async () => {
    const caller = await system.caller({}, undefined, ['run', 'requests', 'usage']);
    const tag = newTag('attributed');
    const run = await caller.submit(model, `{"prompt":"[[sim:tag=${tag}]]"}`, {
      headers,
      query: `?webhook_url=${encodeURIComponent(`${receiver.url}/${tag}`)}`,
    });
    const event = await receiver.signed(`/${tag}`, await system.webhookSecrets(caller));
    expect(routerRunCompleted.parse(event)).toEqual(event);
    expect(event).toMatchObject({ data: { request_id: run.requestId }, ...attribution });

    const path = `/v2/models/${model}`;
    const synchronous = await caller.call('POST', path, { body: '{"prompt":"at once"}', headers });
    expect(synchronous.status).toBe(200);
    const found = (await caller.call('GET', '/v2/requests?tag=team=web&user=user-7')).json()['data'];
    expect(found).toMatchObject([attribution, { request_id: run.requestId, ...attribution }]);
    expect((await caller.call('GET', '/v2/usage?group_by=tag:project')).json()['data']).toMatchObject([
      { tags: { project: 'alpha' }, runs: 2, succeeded: 2 },
    ]);
    const [submission] = await system.provider.ledger(tag);
    const sent = Buffer.from(submission?.bodyBase64 ?? '', 'base64').toString();
    expect(sent).toContain(tag);
    expect(sent).not.toMatch(/alpha|web|user-7/);
    expect(await system.provider.violations()).toBe(0);
  });

  it('of a call to the MCP server are those of the run that its tool begins', async () => {
    const caller = await system.caller({}, undefined, ['run', 'requests', 'catalog']);
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'run_model', arguments: { model, input: { prompt: 'x' }, wait_seconds: 0 } },
    };
    const answer = await caller.call('POST', '/mcp', {
      body: JSON.stringify(call),
      headers: { accept: 'application/json, text/event-stream', ...headers },
    });
    expect(answer.status).toBe(200);
    expect((await caller.call('GET', '/v2/requests')).json()['data']).toMatchObject([attribution]);
    await system.ended(caller);
  });
});

failOnLeftovers();
