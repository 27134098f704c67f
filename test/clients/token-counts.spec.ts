import { describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import {
  failOnLeftovers,
  newTag,
  sharedSystem,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

const [transport = 'postgres'] = transports();
const system = sharedSystem(transport);
const url = () => system.gateways[0]?.url ?? '';

const anthropicOf = ({ key }: TestCaller) =>
  new Anthropic({ baseURL: `${url()}/anthropic`, apiKey: key, maxRetries: 0 });

const clients = {
  '@anthropic-ai/sdk': {
    id: 'anthropic/claude-opus-5',
    path: '/anthropic/messages/count_tokens',
    count: async (caller: TestCaller, content: string, model = 'claude-opus-5') => {
      const messages = [{ role: 'user' as const, content }];
      return (await anthropicOf(caller).messages.countTokens({ model, messages })).input_tokens;
    },
  },
  '@google/genai': {
    id: 'vertexai/gemini-2.5-flash',
    path: expect.stringMatching(/\/models\/gemini-2\.5-flash:countTokens$/),
    count: async ({ key }: TestCaller, contents: string, model = 'gemini-2.5-flash') => {
      const { models } = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${url()}/gemini` } });
      return (await models.countTokens({ model, contents })).totalTokens;
    },
  },
};

describe.each(Object.entries(clients))('the official client %s', (_name, { id, path, count }) => {
  it('counts tokens without a cost, a record or an entry in the list of runs', async () => {
    const caller = await system.caller({ balanceMicros: 0 }, undefined, ['run', 'requests']);
    const tag = newTag('count');
    expect(await count(caller, `Good day [[sim:tag=${tag}]]`)).toBeGreaterThan(0);
    expect(await system.provider.ledger(tag)).toMatchObject([{ path }]);
    await system.ended(caller);
    const [kept] = await system.sql(
      `SELECT (SELECT count(*)::integer FROM run WHERE workspace_id = $1) AS runs,
        (SELECT count(*)::integer FROM audit_record WHERE workspace_id = $1) AS records,
        (SELECT count(*)::integer FROM ledger_entry WHERE workspace_id = $1 AND run_id IS NOT NULL) AS entries,
        (SELECT inflight FROM workspace WHERE id = $1) AS inflight`,
      [caller.workspaceId],
    );
    expect(kept).toEqual({ runs: 1, records: 0, entries: 0, inflight: 0 });
    expect((await caller.call('GET', '/v2/requests')).json()).toMatchObject({ data: [] });
  });

  it('is refused by the limit of runs per minute, without permission, and for an unknown model', async () => {
    await expect(count(await system.caller({ windowLimit: 0 }), 'x')).rejects.toThrow(/per minute/);
    await expect(count(await system.caller({ runnable: [] }), 'x')).rejects.toThrow(/403|PERMISSION/);
    await expect(count(await system.caller(), 'x', `${id.slice(id.indexOf('/') + 1)}-mini`)).rejects.toThrow(
      /There is no such model/,
    );
  });
});

it('the caller’s own tools count where the workspace forbids tools that run at the provider', async () => {
  const { messages } = anthropicOf(await system.caller({ allowProviderTools: false }));
  const counted = (tool: object) =>
    messages.countTokens({
      model: 'claude-opus-5',
      messages: [{ role: 'user', content: 'x' }],
      tools: [tool as Anthropic.Tool],
    });
  expect((await counted({ name: 'look', input_schema: { type: 'object' } })).input_tokens).toBeGreaterThan(0);
  await expect(counted({ type: 'web_search_20250305', name: 'web_search' })).rejects.toMatchObject({
    status: 403,
  });
});

it('a provider’s verdict arrives as it does at the vendor', async () => {
  const counting = clients['@anthropic-ai/sdk'].count(await system.caller(), '[[sim:field_error]]');
  await expect(counting).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
});

it('a live count is in no list', async () => {
  const caller = await system.caller({}, undefined, ['run', 'requests']);
  const tag = newTag('live');
  const counting = clients['@anthropic-ai/sdk'].count(caller, `[[sim:tag=${tag}]] ${unending}`);
  await waitFor(async () => (await system.provider.ledger(tag)).length > 0, {
    withinMs: 30_000,
    what: 'the call to reach the provider',
  });
  expect((await caller.call('GET', '/v2/requests')).json()).toMatchObject({ data: [] });
  await system.provider.finish(tag);
  expect(await counting).toBeGreaterThan(0);
});

failOnLeftovers();
