import { expect, it } from '@jest/globals';
import { inputErrors } from './check-input.js';
import type { JsonSchema } from './json-schema.js';
import { loadCatalog } from './load-catalog.js';
import type { Model } from './model.js';

const { models } = await loadCatalog();
const found = (id: string): Model => {
  const model = models.find((each) => each.id === id);
  if (model === undefined) throw new Error(`No row ${id}`);
  return model;
};

const errorsOf = (id: string, body: object) => inputErrors(found(id), body);

const question = [{ role: 'user', content: 'x' }];
const tool = { name: 'read', description: 'x', parameters: { type: 'object' } };

/** Parts of bodies that the field's clients and coding agents send by default. */
it.each<[string, string, object]>([
  [
    'Claude Code: a system message in the middle',
    'anthropic/claude-opus-5',
    {
      max_tokens: 32_000,
      messages: [...question, { role: 'system', content: 'y' }],
      thinking: { type: 'adaptive' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      metadata: { user_id: 'x' },
      stream: true,
    },
  ],
  [
    'the AI SDK and opencode: a level of thinking in lower case',
    'vertexai/gemini-3.8-flash',
    {
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      generationConfig: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } },
    },
  ],
  [
    'older releases of @ai-sdk/google: tools as one object',
    'vertexai/gemini-2.5-flash',
    {
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      tools: { functionDeclarations: [tool] },
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    },
  ],
  [
    'Gemini CLI: tools as a list, thoughts',
    'vertexai/gemini-2.5-pro',
    {
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      systemInstruction: { role: 'user', parts: [{ text: 'y' }] },
      tools: [{ functionDeclarations: [tool] }],
      generationConfig: { temperature: 0, topP: 1, thinkingConfig: { includeThoughts: true } },
    },
  ],
  [
    'Codex: effort and summary of the reasoning, encrypted content',
    'openai/gpt-5.5',
    {
      input: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'x' }] }],
      reasoning: { effort: 'xhigh', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      tools: [
        { type: 'function', ...tool, strict: false },
        { type: 'custom', name: 'apply_patch' },
      ],
      parallel_tool_calls: false,
      store: false,
      stream: true,
    },
  ],
  [
    'a role that came later',
    'openai/gpt-5.5-chat-completions',
    { messages: [{ role: 'platform', content: 'x' }, ...question] },
  ],
  [
    'an effort that came later',
    'openrouter/chat-completions',
    { model: 'a/b', messages: question, reasoning: { effort: 'max' } },
  ],
])('%s', (_what, id, body) => {
  expect(errorsOf(id, body)).toEqual([]);
});

it('a body may have a dated name of its row, and no other row’s', () => {
  const body = { input: 'x', max_output_tokens: 16 };
  expect(errorsOf('openai/gpt-4o', { model: 'gpt-4o-2024-08-06', ...body })).toEqual([]);
  for (const model of ['gpt-4o-mini', 'gpt-4o-2024-05-13', 'gpt-4o-mini-2024-07-18'])
    expect(errorsOf('openai/gpt-4o', { model, ...body })).toMatchObject([{ loc: ['body', 'model'] }]);
});

it.each<[string, string, object]>([
  ['a search without a known price', 'vertexai/gemini-2.5-flash', { tools: { googleMaps: {} } }],
  ['one in a list', 'vertexai/gemini-2.5-flash', { tools: [{ googleMaps: {} }] }],
  ['a mode with a price of its own', 'anthropic/claude-opus-5', { speed: 'fast' }],
  ['a tier with a price of its own', 'openai/gpt-5.5', { service_tier: 'priority' }],
])('%s is refused', (_what, id, members) => {
  const body = { ...(found(id).example as object), ...members };
  expect(errorsOf(id, body)).not.toEqual([]);
});

/** The members of text rows whose values have a price, a route or a danger, and why. */
const binding: readonly [pattern: RegExp, reason: string][] = [
  [/^\/model(_id)?$/, 'it is the row'],
  [/^\/background$|^\/store$/, 'the provider would keep the answer'],
  [/^\/stream$|^\/response_format$|^\/chunking_strategy/, 'the answer would have another form'],
  [/^\/service_tier$|^\/speed$/, 'it has a price'],
  [/mimeType$|[mM]odalities\/\*$/, 'media have a price'],
  [/^(\/input\/\*)?\/tools\//, 'tools that run at the provider have a price'],
];

function* listsIn(schema: JsonSchema, at = ''): Generator<string> {
  if (schema.enum !== undefined || 'const' in schema) yield at;
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* listsIn(member, `${at}/${name}`);
  if (schema.items) yield* listsIn(schema.items, `${at}/*`);
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    yield* listsIn(branch, at);
}

it('a text row binds values only where they have a price, a route or a danger', () => {
  const others = models
    .filter(({ modalities }) => modalities?.out.length === 1 && modalities.out[0] === 'text')
    .filter(({ provider }) => !['fal', 'replicate'].includes(provider))
    .flatMap(({ id, input }) => [...new Set(listsIn(input))].map((at) => `${id} ${at}`))
    .filter((place) => !binding.some(([pattern]) => pattern.test(place.split(' ')[1] ?? '')));
  expect(others).toEqual([]);
});
