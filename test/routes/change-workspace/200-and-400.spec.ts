import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('changes what is given, records who did it, and concerns the next run', async () => {
  const { caller, workspace, keyId } = await gateway().caller({}, ['run', 'workspace', 'manage']);
  const change = { allow_samples: true, required_tags: ['team'] };
  const changed = await caller.call('PATCH', '/v2/workspace', { body: JSON.stringify(change) });
  expect(changed.status).toBe(200);
  expect(changed.json()).toMatchObject({ ...change, requires_user: false });
  expect(changed.json()).toEqual((await caller.call('GET', '/v2/workspace')).json());

  const run = await caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', { body: '{"prompt":"x"}' });
  expect([run.status, run.bucket]).toEqual([400, 'invalid_input']);

  const [recorded] = await gateway().database.reads.query<{ actor: string; details: object }>(
    `SELECT actor, details FROM operator_action WHERE action = 'workspace.change' AND subject = $1`,
    [workspace.name],
  );
  expect(recorded).toEqual({
    actor: expect.stringContaining(keyId),
    details: { allowSamples: true, requiredTags: ['team'] },
  });

  const undone = await caller.call('PATCH', '/v2/workspace', { body: '{"required_tags":[]}' });
  expect(undone.json()).toMatchObject({ allow_samples: true, required_tags: [] });
});

it('forbids tools that run at the provider, and no others', async () => {
  const { caller } = await gateway().caller({ balanceMicros: null }, ['run', 'workspace', 'manage']);
  const change = { body: '{"allow_provider_tools":false}' };
  expect((await caller.call('PATCH', '/v2/workspace', change)).json()).toMatchObject({
    allow_provider_tools: false,
  });
  const answerTo = async (model: string, tools: unknown, input: object) => {
    const body = JSON.stringify({ ...input, tools });
    const { status, bucket } = await caller.call('POST', `/v2/models/${model}/requests`, { body });
    return [status, bucket];
  };
  const question = { input: 'x', max_output_tokens: 16 };
  const contents = { contents: [{ parts: [{ text: 'x' }] }], generationConfig: { maxOutputTokens: 16 } };
  const message = { max_tokens: 16, messages: [{ role: 'user', content: 'x' }] };
  const forbidden = [403, 'forbidden'];
  const group = { type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] };
  for (const tools of [[{ type: 'web_search' }], [{ type: 'function', name: 'f' }, { type: 'mcp' }], [group]])
    expect(await answerTo('openai/gpt-5.5', tools, question)).toEqual(forbidden);
  for (const tools of [{ googleSearch: {} }, [{ google_search: {} }], [{ codeExecution: {} }]])
    expect(await answerTo('vertexai/gemini-2.5-flash', tools, contents)).toEqual(forbidden);
  for (const type of ['web_search_20250305', 'web_fetch_20260318', 'unknown_20270101'])
    expect(await answerTo('anthropic/claude-opus-5', [{ type, name: 'f' }], message)).toEqual(forbidden);
  const hidden: [string, object][] = [
    ['openai/gpt-5.5', { ...question, Tools: [{ type: 'web_search' }] }],
    ['openai/gpt-5.5', { input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }] }],
    [
      'anthropic/claude-opus-5',
      { ...message, mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] },
    ],
    [
      'openrouter/chat-completions',
      { messages: message.messages, model: 'openai/gpt-5.5', plugins: [{ id: 'web' }] },
    ],
    ['openrouter/chat-completions', { messages: message.messages, model: 'openai/gpt-5.5:online' }],
    ['fal/fal-nano-banana-2', { prompt: 'x', enable_web_search: true }],
  ];
  for (const [model, body] of hidden)
    expect([model, await answerTo(model, undefined, body)]).toEqual([model, forbidden]);
  const own = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];
  expect(await answerTo('openai/gpt-5.5', own, question)).toEqual([201, undefined]);
  const functions = [{ functionDeclarations: [{ name: 'f' }], googleSearch: null }];
  expect(await answerTo('vertexai/gemini-2.5-flash', functions, contents)).toEqual([201, undefined]);
  expect(await answerTo('anthropic/claude-opus-5', [{ name: 'f', input_schema: {} }], message)).toEqual([
    201,
    undefined,
  ]);
});

it.each([
  ['another member', '{"markup":0}'],
  ['limits', '{"limits":{"inflight":1000}}'],
  ['credits', '{"credits_cents":1000000}'],
  ['another type', '{"allow_samples":"yes"}'],
  ['a tag that no run can have', '{"required_tags":["a b"]}'],
  ['too many tags', JSON.stringify({ required_tags: Array.from({ length: 99 }, (_, index) => `t${index}`) })],
])('%s is rejected, and nothing changes', async (_what, body) => {
  const { caller } = await gateway().caller({}, ['workspace', 'manage']);
  const before = (await caller.call('GET', '/v2/workspace')).json();
  const answer = await caller.call('PATCH', '/v2/workspace', { body });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect((await caller.call('GET', '/v2/workspace')).json()).toEqual(before);
});

it('only the workspace itself allows samples', async () => {
  const { caller, workspace } = await gateway().caller({}, ['operate']);
  const path = `/v2/operator/workspaces/${workspace.name}`;
  const answer = await caller.call('PATCH', path, { body: '{"allow_samples":true}' });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
