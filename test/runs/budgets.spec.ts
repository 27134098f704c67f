import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '#schemas';
import { routerBudgetThreshold } from '../../libs/schemas/src/budget-shapes.js';
import { failOnLeftovers, Receiver, sharedSystem, eitherTransport, waitFor } from '../harness/index.js';

const model = 'bfl/flux-2-pro';
const scopes: Scope[] = ['run', 'requests', 'catalog', 'manage'];
const body = '{"prompt":"x"}';

describe.each(eitherTransport())('budgets on %s', (transport) => {
  const system = sharedSystem(transport);
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterAll(() => receiver.stop());

  it('call their webhook once for each share of the limit that is spent, signed', async () => {
    const caller = await system.caller({}, undefined, scopes);
    const cost = await caller.call('POST', `/v2/models/${model}/cost`, { body });
    const cents = Number(cost.json()['expected_cents']);
    const limit_cents = 2 * Math.ceil(cents);
    const path = `/${caller.workspace}`;
    const budget = { window: 'month', kind: 'soft', limit_cents, webhook_url: receiver.url + path };
    expect(await caller.call('PUT', '/v2/budgets/watched', { body: JSON.stringify(budget) })).toMatchObject({
      status: 200,
    });
    for (let nth = 0; nth < 3; nth += 1)
      expect((await caller.call('POST', `/v2/models/${model}`, { body })).status).toBe(200);
    await waitFor(() => receiver.to(path).length === 3, { withinMs: 20_000, what: 'three events' });
    const events = receiver.to(path).map((call) => routerBudgetThreshold.parse(JSON.parse(call.text)));
    expect(new Set(events.map(({ data }) => data.threshold))).toEqual(new Set([50, 80, 100]));
    expect(events[0]).toMatchObject({
      type: 'budget.threshold',
      data: { budget: 'watched', scope: 'workspace', window: 'month', kind: 'soft', limit_cents },
    });
    await receiver.signed(path, await system.webhookSecrets(caller));
    const deliveries = (await caller.call('GET', '/v2/webhooks/deliveries')).json()['data'];
    expect(deliveries).toEqual(
      Array(3).fill(
        expect.objectContaining({ budget: 'watched', form: 'standard', url: receiver.url + path }),
      ),
    );
    expect(JSON.stringify(deliveries)).not.toContain('model');
  });

  it('refuse calls of tools and of the vendors’ clients', async () => {
    const caller = await system.caller({}, undefined, scopes);
    await caller.call('PUT', '/v2/budgets/small', { body: '{"window":"day","limit_cents":1}' });
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'run_model', arguments: { model, input: { prompt: 'x' }, wait_seconds: 0 } },
    };
    const tool = await caller.call('POST', '/mcp', {
      body: JSON.stringify(call),
      headers: { accept: 'application/json, text/event-stream' },
    });
    expect(tool.bytes.toString()).toMatch(/The budget .{1,4}small.{1,4} has no room for this call/);
    // Its errors have OpenAI's form.
    const image = await fetch(`${system.gateways[0]?.url}/openai/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: '{"model":"gpt-image-2","prompt":"x","quality":"high"}',
    });
    expect([image.status, await image.json()]).toEqual([
      429,
      {
        error: expect.objectContaining({ message: expect.stringContaining('has no room for this call') }),
      },
    ]);
    expect((await caller.call('GET', '/v2/requests')).json()['data']).toEqual([]);
  });
});

failOnLeftovers();
