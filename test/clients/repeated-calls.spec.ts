import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import {
  failOnLeftovers,
  newTag,
  sharedSystem,
  type TcpProxy,
  tcpProxy,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';
import { aiVendors } from './ai-vendors.js';

const [transport = 'postgres'] = transports();
const system = sharedSystem(transport);

interface Client {
  name: string;
  run: (words: string) => Promise<string>;
  stream: (words: string) => Promise<string>;
}

const asked = (content: string) => ({
  model: 'claude-opus-5',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content }],
});
const contents = (words: string) => ({ model: 'gemini-2.5-flash', contents: words });

/** Clients that repeat a call after its connection broke, without an Idempotency-Key. Google's leaves that to its user. */
const clientsAt = (url: string, key: string): Client[] => {
  const openai = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: key });
  const anthropic = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: key });
  const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: `${url}/gemini` } });
  return [
    {
      name: 'openai',
      run: async (input) => (await openai.responses.create({ model: 'gpt-5.5', input })).output_text,
      stream: async (input) => all(await openai.responses.create({ model: 'gpt-5.5', input, stream: true })),
    },
    {
      name: '@anthropic-ai/sdk',
      run: async (words) => JSON.stringify((await anthropic.messages.create(asked(words))).content),
      stream: async (words) => all(await anthropic.messages.create({ ...asked(words), stream: true })),
    },
    {
      name: '@google/genai',
      run: async (words) =>
        twice(async () => (await google.models.generateContent(contents(words))).text ?? ''),
      stream: (words) => twice(async () => all(await google.models.generateContentStream(contents(words)))),
    },
    ...aiVendors(url, key)
      .slice(0, 1)
      .map(({ name, generate, stream }) => ({
        name,
        run: generate,
        stream: async (words: string) => (await stream(words)).text,
      })),
  ];
};

/** Repeats a call once the router has noticed that the caller is gone. */
const twice = (call: () => Promise<string>) =>
  call().catch(async () => {
    const left = `SELECT FROM run WHERE workspace_id = $1 AND stage <> 'completed' AND caller_left_at IS NOT NULL`;
    await waitFor(async () => (await system.sql(left, [caller.workspaceId])).length > 0, {
      withinMs: 30_000,
      what: 'the router to notice the broken connection',
    });
    return call();
  });

async function all(events: AsyncIterable<unknown>): Promise<string> {
  const seen: unknown[] = [];
  for await (const event of events) seen.push(event);
  return JSON.stringify(seen);
}

let caller: TestCaller;
let proxy: TcpProxy;
const clients: Record<string, Client> = {};
const names = clientsAt('http://router.example', 'key').map(({ name }) => name);

beforeAll(async () => {
  proxy = await tcpProxy({ port: Number(new URL(system.gateways[0]?.url ?? '').port) });
  caller = await system.caller({ inflightLimit: 50 });
  for (const client of clientsAt(`http://${proxy.address}`, caller.key)) clients[client.name] = client;
});
afterAll(() => proxy.close());

const submissions = async (tag: string) => (await system.provider.ledger(tag)).length;
const billedRuns = async (tag: string) =>
  system.sql(
    `SELECT FROM run JOIN payload ON run_id = id WHERE workspace_id = $1 AND kind = 'input' AND billed_micros > 0
      AND position($2::bytea IN body) > 0`,
    [caller.workspaceId, Buffer.from(tag)],
  );

/** Calls, breaks the connection when the provider has the call, and lets the provider finish. */
async function broken(tag: string, call: () => Promise<string>): Promise<string> {
  const answer = call();
  answer.catch(() => {});
  await waitFor(async () => (await submissions(tag)) === 1, { withinMs: 30_000, what: 'the submission' });
  proxy.set('reset');
  proxy.set('pass');
  await waitFor(
    async () => {
      const [row] = await system.sql(
        `SELECT FROM run JOIN joined_call ON run_id = id JOIN payload USING (run_id)
          WHERE run.workspace_id = $1 AND kind = 'input' AND position($2::bytea IN body) > 0`,
        [caller.workspaceId, Buffer.from(tag)],
      );
      return row !== undefined;
    },
    { withinMs: 30_000, what: 'the client to repeat its call' },
  );
  await system.provider.finish(tag);
  return answer;
}

describe.each(names)('a call of %s', (name) => {
  it.each(['run', 'stream'] as const)('is paid for once if its connection breaks: %s', async (kind) => {
    const tag = newTag('broken');
    const answer = await broken(
      tag,
      async () => clients[name]?.[kind](`[[sim:tag=${tag}]] ${unending}`) ?? '',
    );
    expect(answer.length).toBeGreaterThan(2);
    expect(await submissions(tag)).toBe(1);
    expect(await billedRuns(tag)).toHaveLength(1);
  });

  it('is another run if it is equal on purpose', async () => {
    const tag = newTag('twice');
    const words = `[[sim:tag=${tag}]]`;
    const call = () => clients[name]?.run(words);
    await Promise.all([call(), call()]);
    await call();
    expect(await billedRuns(tag)).toHaveLength(3);
  });
});

/** Rejected submissions are not in the simulator's ledger. */
const runs = async (tag: string) =>
  (
    await system.sql(
      `SELECT FROM run JOIN payload ON run_id = id WHERE workspace_id = $1 AND kind = 'input' AND position($2::bytea IN body) > 0`,
      [caller.workspaceId, Buffer.from(tag)],
    )
  ).length;

/** LangChain and others call an SDK without retries of its own again. */
const repeated = async (words: string) => {
  const openai = new OpenAI({
    baseURL: `${system.gateways[0]?.url}/openai/v1`,
    apiKey: caller.key,
    maxRetries: 0,
  });
  const statuses: unknown[] = [];
  for (let nth = 0; nth < 3; nth += 1)
    await openai.responses.create({ model: 'gpt-5.5', input: words }).then(
      () => statuses.push(200),
      (error: unknown) => statuses.push((error as { status?: number }).status),
    );
  return statuses;
};

const repeatedOnce = (words: string, count: string) =>
  fetch(`${system.gateways[0]?.url}/openai/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${caller.key}`,
      'content-type': 'application/json',
      'x-stainless-retry-count': count,
    },
    body: JSON.stringify({ model: 'gpt-5.5', input: words }),
    signal: AbortSignal.timeout(30_000),
  }).then((answer) => answer.text());

describe('a loop around an SDK that repeats every failure', () => {
  it.each([
    ['failed', '[[sim:500_submit]]', 502],
    ['was rejected by the content policy', '[[sim:policy_submit]]', 400],
  ])('pays once for a run that %s', async (_how, control, status) => {
    const tag = newTag('loop');
    expect(await repeated(`[[sim:tag=${tag}]] ${control}`)).toEqual([status, status, status]);
    expect(await runs(tag)).toBe(1);
  });

  it('gets a new run from a client that counts on', async () => {
    const tag = newTag('counted');
    const words = `[[sim:tag=${tag}]] [[sim:500_submit]]`;
    for (const count of ['0', '1', '1']) await repeatedOnce(words, count);
    expect(await runs(tag)).toBe(2);
  });
});

failOnLeftovers();
