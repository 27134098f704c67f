import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, newTag, type TestCaller, transports } from '../harness/index.js';

let system: System;
let caller: TestCaller;

beforeAll(async () => {
  const [transport = 'postgres'] = transports();
  system = await System.start({ transport, issuedKeys: true });
  caller = await system.caller({ inflightLimit: 100 });
});
afterAll(() => system.stop());

/** The part of an SDK’s error that programs read. */
interface Thrown {
  constructor: { name: string };
  status?: number;
  type?: unknown;
  code?: unknown;
  param?: unknown;
  message: string;
  headers?: Headers;
}

const url = () => system.gateways[0]?.url ?? '';
const openai = (options = {}) =>
  new OpenAI({ baseURL: `${url()}/openai/v1`, apiKey: caller.key, maxRetries: 0, ...options });

/** The clients of the vendors, each with the words of a call. */
const clients: Readonly<Record<string, (words: string, options?: object) => Promise<unknown>>> = {
  responses: (input, options) =>
    openai(options).responses.create({ model: 'gpt-5.5', input, max_output_tokens: 16 }),
  chat: (content, options) =>
    openai(options).chat.completions.create({ model: 'gpt-5.5', messages: [{ role: 'user', content }] }),
  messages: (content, options) =>
    new Anthropic({
      baseURL: `${url()}/anthropic`,
      apiKey: caller.key,
      maxRetries: 0,
      ...options,
    }).messages.create({
      model: 'claude-opus-5',
      max_tokens: 16,
      messages: [{ role: 'user', content }],
    }),
  gemini: (contents) =>
    new GoogleGenAI({
      apiKey: caller.key,
      httpOptions: { baseUrl: `${url()}/gemini` },
    }).models.generateContent({
      model: 'gemini-2.5-flash',
      contents,
    }),
};

/** The error of a call, and how long it took. */
async function thrownBy(client: string, words: string, options = {}) {
  const beganAtMs = performance.now();
  try {
    await clients[client]?.(words, options);
  } catch (error) {
    const thrown = error as Thrown;
    const seconds = (performance.now() - beganAtMs) / 1000;
    return {
      ...thrown,
      name: thrown.constructor.name,
      message: thrown.message,
      headers: thrown.headers,
      seconds,
    };
  }
  throw new Error(`${client} succeeded`);
}

const said = (client: string, control: string) => thrownBy(client, `hello [[sim:${control}]]`);

describe('a provider’s refusal reaches the official clients as the provider’s own', () => {
  it('when it judges the input: class, status, type, code and parameter', async () => {
    expect(await said('responses', 'field_error')).toMatchObject({
      name: 'BadRequestError',
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_value',
      param: 'prompt',
    });
    expect(await said('chat', 'field_error')).toMatchObject({ name: 'BadRequestError', status: 400 });
    expect(await said('messages', 'field_error')).toMatchObject({
      name: 'BadRequestError',
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringContaining('The prompt is not valid'),
    });
    expect(await said('gemini', 'field_error')).toMatchObject({
      name: 'ApiError',
      status: 400,
      message: expect.stringContaining('"status":"INVALID_ARGUMENT"'),
    });
  });

  it('within 15 s if it stays busy, and the same call may be repeated', async () => {
    const thrown = await Promise.all(
      Object.keys(clients).map((client) => thrownBy(client, `busy ${newTag('busy')} [[sim:429]]`)),
    );
    for (const { name, status, seconds, headers, message } of thrown) {
      expect(status).toBe(429);
      expect(['RateLimitError', 'ApiError']).toContain(name);
      expect(seconds).toBeGreaterThan(5);
      expect(seconds).toBeLessThan(20);
      expect(headers?.get('x-should-retry') ?? null).toBeNull();
      expect(message).toContain('The provider is temporarily unavailable; try again later.');
    }
    const overloaded = await thrownBy('messages', 'overloaded [[sim:503]]');
    expect(overloaded).toMatchObject({ name: 'OverloadedError', status: 529, type: 'overloaded_error' });
  });

  it('at once if it asks for a longer pause, also for the calls that come after it', async () => {
    const first = await thrownBy('messages', 'pause [[sim:429]][[sim:retry_after=50]]');
    expect(first).toMatchObject({ name: 'RateLimitError', status: 429 });
    const second = await thrownBy('messages', 'never sent');
    expect(second).toMatchObject({ name: 'RateLimitError', status: 429 });
    for (const { seconds, headers } of [first, second]) {
      expect(seconds).toBeLessThan(6);
      expect(Number(headers?.get('retry-after'))).toBeGreaterThan(40);
      expect(Number(headers?.get('retry-after'))).toBeLessThanOrEqual(50);
    }
    const key = { defaultHeaders: { 'Idempotency-Key': 'kept' } };
    const runs = [
      await thrownBy('messages', 'with a key', key),
      await thrownBy('messages', 'with a key', key),
    ];
    expect(new Set(runs.map(({ headers }) => headers?.get('x-service-run-id'))).size).toBe(2);
    const [kept] = await system.sql<{ keys: string }>(
      `SELECT count(*) AS keys FROM idempotency_key WHERE workspace_id = $1`,
      [caller.workspaceId],
    );
    expect(kept?.keys).toBe('0');
    const buckets = await system.sql<{ bucket: string; billed: string }>(
      `SELECT DISTINCT bucket, billed_micros AS billed FROM run WHERE workspace_id = $1 AND bucket = 'service_unavailable'`,
      [caller.workspaceId],
    );
    expect(buckets).toEqual([{ bucket: 'service_unavailable', billed: '0' }]);
  });
});

it('leaves the books right', async () => {
  await holdToInvariants(system);
});

failOnLeftovers();
