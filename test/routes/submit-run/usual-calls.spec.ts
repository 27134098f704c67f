import { afterAll, expect, it } from '@jest/globals';
import { type ReportedTerm, wholeMicros } from '#schemas';
import { reportedMicros } from '#providers';
import { sharedGateway } from '../gateways.js';
import type { Caller } from '../../harness/caller.js';

const gateway = sharedGateway();

interface Call {
  model: string;
  body: object;
  /** The provider's report. */
  usage: object;
  /** Whether it sets a limit on its answer, which is many times as long as the answer where it is `generous`. */
  limit?: 'set' | 'generous';
}

/** A text of this many tokens, as providers count them. */
const textOf = (tokens: number) => 'word'.repeat(tokens);

const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const tool = { name: 'read_file', description: 'Reads a file.', parameters };
const responsesTool = { type: 'function', ...tool };
const chatTool = { type: 'function', function: tool };
const claudeTool = { name: tool.name, description: tool.description, input_schema: parameters };
const user = (content: string) => [{ role: 'user', content }];
const contents = (text: string) => [{ role: 'user', parts: [{ text }] }];

const chat = (prompt: number, completion: number) => ({
  usage: { prompt_tokens: prompt, completion_tokens: completion },
});
const response = (input: number, output: number, cached = 0) => ({
  usage: { input_tokens: input, output_tokens: output, input_tokens_details: { cached_tokens: cached } },
});
const message = (input: number, output: number, cached = 0) => ({
  usage: { input_tokens: input, output_tokens: output, cache_read_input_tokens: cached },
});
const gemini = (prompt: number, candidates: number) => ({
  usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: candidates },
});

/** An agent's instructions and tools, whose beginning the provider has in its cache. */
const system = [{ type: 'text', text: textOf(5_000), cache_control: { type: 'ephemeral' } }];
const claudeTools = Array.from({ length: 15 }, (_, nth) => ({
  ...claudeTool,
  name: `tool_${nth}`,
  description: textOf(200),
}));

/** Calls that people and their agents send first, with the usage that a review of these programs found. */
const calls: Readonly<Record<string, Call>> = {
  'chat, hi': {
    model: 'openai/gpt-5.5-chat-completions',
    body: { messages: user('hi') },
    usage: chat(8, 100),
  },
  'Responses, hi': { model: 'openai/gpt-5.5', body: { input: 'hi' }, usage: response(8, 100) },
  'Gemini, hi': {
    model: 'vertexai/gemini-2.5-flash',
    body: { contents: contents('hi') },
    usage: gemini(8, 200),
  },
  'chat, a tool': {
    model: 'openai/gpt-5.5-chat-completions',
    body: { messages: user('hi'), tools: [chatTool] },
    usage: chat(70, 100),
  },
  'Responses, a tool, limit 500': {
    model: 'openai/gpt-5.5',
    body: { input: 'hi', tools: [responsesTool], max_output_tokens: 500 },
    usage: response(70, 105),
    limit: 'generous',
  },
  'chat, long, a tool, limit 2,000': {
    model: 'openai/gpt-5.5-chat-completions',
    body: { messages: user(textOf(10_200)), tools: [chatTool], max_completion_tokens: 2000 },
    usage: chat(10_200, 2000),
    limit: 'set',
  },
  'Responses, long, a tool, limit 2,000': {
    model: 'openai/gpt-5.5',
    body: { input: textOf(10_200), tools: [responsesTool], max_output_tokens: 2000 },
    usage: response(10_200, 2000),
    limit: 'set',
  },
  'Claude Opus 5, long, a tool, limit 2,000': {
    model: 'anthropic/claude-opus-5',
    body: { messages: user(textOf(11_500)), tools: [claudeTool], max_tokens: 2000 },
    usage: message(11_500, 2000),
    limit: 'set',
  },
  'Gemini 2.5 Flash, long, a tool, limit 2,000': {
    model: 'vertexai/gemini-2.5-flash',
    body: {
      contents: contents(textOf(6_700)),
      tools: [{ functionDeclarations: [tool] }],
      generationConfig: { maxOutputTokens: 2000 },
    },
    usage: gemini(6_700, 2000),
    limit: 'set',
  },
  'Codex, a turn': {
    model: 'openai/gpt-5.5',
    body: {
      instructions: textOf(5_000),
      input: [{ type: 'message', ...user(textOf(500))[0] }],
      tools: Array.from({ length: 9 }, (_, nth) => ({
        ...responsesTool,
        name: `tool_${nth}`,
        description: textOf(400),
      })),
      stream: true,
    },
    usage: response(9_500, 190, 8_500),
  },
  'opencode on Claude Opus 5': {
    model: 'anthropic/claude-opus-5',
    body: { system, messages: user(textOf(500)), tools: claudeTools, max_tokens: 32_000, stream: true },
    usage: message(500, 280, 8_000),
    limit: 'generous',
  },
  'Claude Code on Claude Haiku 4.5': {
    model: 'anthropic/claude-haiku-4-5-20251001',
    body: { system, messages: user(textOf(1_000)), tools: claudeTools, max_tokens: 32_000, stream: true },
    usage: message(1_000, 1_200, 10_000),
    limit: 'generous',
  },
};

interface Cost {
  reserved: number;
  billed: number;
}

const isExpected = {
  none: ({ reserved }: Cost) => reserved <= 50,
  set: ({ reserved, billed }: Cost) => reserved <= 3 * billed,
  // A limit is the caller's word for how long the answer may be, so it is reserved however short the answer is.
  generous: ({ reserved, billed }: Cost) => reserved > 3 * billed,
} as const;

const rows: string[] = [];
afterAll(() => {
  process.stdout.write(`cents reserved, billed:\n${rows.join('\n')}\n`);
});

/** Admits a call, and bills what the provider reports for it, as a worker would. */
async function costOf(caller: Caller, { model, body, usage }: Call) {
  const answer = await caller.call('POST', `/v2/models/${model}/requests`, { body: JSON.stringify(body) });
  expect([answer.status, answer.bytes.toString()]).toEqual([201, expect.any(String)]);
  const [run] = await gateway().database.reads.query<{
    reserved: number;
    bound: number;
    reported: ReportedTerm[];
  }>(
    `SELECT reserved_micros::float AS reserved, coalesce(bound_micros, reserved_micros)::float AS bound, facts -> 'reported' AS reported
      FROM run WHERE id = $1`,
    [answer.json()['request_id']],
  );
  if (!run) throw new Error('there is no such run');
  const reply = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(usage)) };
  const billed = wholeMicros(reportedMicros(run.reported, reply) ?? NaN);
  return { reserved: run.reserved / 10_000, bound: run.bound / 10_000, billed: billed / 10_000 };
}

it('the usual calls fit five dollars all at once, and none reserves much more than it costs', async () => {
  const { caller } = await gateway().caller({ balanceMicros: 5_000_000 });
  for (const [name, call] of Object.entries(calls)) {
    const { reserved, bound, billed } = await costOf(caller, call);
    rows.push(`${name}: ${reserved.toFixed(2)}, ${billed.toFixed(2)}`);
    expect([name, billed > 0, billed <= bound]).toEqual([name, true, true]);
    expect([name, isExpected[call.limit ?? 'none']({ reserved, billed })]).toEqual([name, true]);
  }
  expect(Object.keys(calls)).toHaveLength(12);
});
