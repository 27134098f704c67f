import { describe, expect, it } from '@jest/globals';
import { headersFor, inputHeadersOf, pricedValueIn } from './input-headers.js';
import { providerList } from './providers.js';
import { credentialHeaders } from './trusted-origins.js';

const beta = 'context-management-2025-06-27,interleaved-thinking-2025-05-14';

it('reads only the headers of the closed list, and none with its usual value', () => {
  const given = { 'anthropic-version': '2023-06-01', 'openai-organization': 'x', cookie: 'x' };
  expect(inputHeadersOf(given)).toEqual({});
  expect(inputHeadersOf({ ...given, 'anthropic-beta': beta, 'openai-beta': 'a=v1' })).toEqual({
    'anthropic-beta': beta,
    'openai-beta': 'a=v1',
  });
});

it('finds a value that has a price of its own, at the provider or for the row', () => {
  const taken = { 'anthropic-beta': { priced: ['fast-mode-'] } };
  const priced = (value: string, ofRow = {}) => pricedValueIn({ 'anthropic-beta': value }, taken, ofRow);
  expect(priced(beta)).toBeUndefined();
  expect(priced(`${beta}, fast-mode-2026-02-01`)).toBe('anthropic-beta: fast-mode-2026-02-01');
  expect(priced('Fast-Mode-2026-02-01')).toBe('anthropic-beta: Fast-Mode-2026-02-01');
  expect(priced('context-1m-2025-08-07')).toBeUndefined();
  expect(priced('context-1m-2025-08-07', { 'anthropic-beta': ['context-1m-'] })).toBe(
    'anthropic-beta: context-1m-2025-08-07',
  );
});

describe.each(providerList)('$name', (definition) => {
  it('sends the headers that it takes as they came, and its own credential', () => {
    const headers = headersFor(
      { 'anthropic-beta': beta, 'anthropic-version': '2024-01-01', 'openai-beta': 'a=v1' },
      definition.inputHeaders,
    );
    const owners = { anthropic: ['anthropic-beta', 'anthropic-version'], openai: ['openai-beta'] };
    expect(Object.keys(headers)).toEqual(owners[definition.name as keyof typeof owners] ?? []);
  });
});

it('a version that the caller names replaces the usual one, and the key stays ours', () => {
  const definition = providerList.find(({ name }) => name === 'anthropic');
  const adapter = definition?.create(definition.defaultBase, {});
  if (adapter === undefined) throw new Error('no such provider');
  const sent = (headers: Record<string, string>) => {
    const run = { runId: 'r', model: 'm', upstream: { path: 'messages' }, body: Buffer.from('{}'), headers };
    const call = adapter.submit(run);
    return { ...call.headers, ...credentialHeaders(adapter, call, 'the-key', 0) };
  };
  expect(sent({})).toMatchObject({ 'x-api-key': 'the-key', 'anthropic-version': '2023-06-01' });
  expect(definition?.check?.headers).toEqual({ 'anthropic-version': '2023-06-01' });
  expect(sent({ 'anthropic-version': '2024-01-01', 'anthropic-beta': beta })).toMatchObject({
    'x-api-key': 'the-key',
    'anthropic-version': '2024-01-01',
    'anthropic-beta': beta,
  });
});
