import { describe, expect, it } from '@jest/globals';
import { maxEchoed, withoutEchoes, withoutLongStrings, withoutSecrets } from './redaction.js';

describe('a shown text has no credentials', () => {
  it.each([
    ['a bearer token', 'got "Authorization: Bearer abc.def-123"', 'got "Authorization: [redacted]"'],
    ['a bearer token by itself', 'no such user: bearer 0123456789abcdef', 'no such user: bearer [redacted]'],
    [
      'a key',
      'Incorrect API key provided: sk-proj-abcdefghijklmnop',
      'Incorrect API key provided: [redacted]',
    ],
    ['a key with its name', '{"api_key":"q1w2e3r4","n":1}', '{"api_key":"[redacted]","n":1}'],
    ['a header', 'x-api-key: q1w2e3r4; n', 'x-api-key: [redacted]; n'],
    ['a JSON Web Token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln is expired', '[redacted] is expired'],
    ['an access key of AWS', 'AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    [
      'a key in escaped JSON',
      String.raw`"{\"token\": \"q1w2e3r4\"}"`,
      String.raw`"{\"token\": \"[redacted]\"}"`,
    ],
  ])('%s', (_what, text, shown) => {
    expect(withoutSecrets(text)).toBe(shown);
  });

  it('and keeps what looks like one but is not', () => {
    const text =
      '{"max_tokens":100,"error":"invalid_token","code":"E1234","task":"3f0c8e2a-1111-4222-8333-944455556666"}';
    expect(withoutSecrets(text)).toBe(text);
  });
});

describe('a shown URL is cut to its host', () => {
  it.each([
    [
      'signed',
      '{"url":"https://s3.example.com/b/k.png?X-Amz-Signature=abc&n=1"}',
      '{"url":"https://s3.example.com/…"}',
    ],
    [
      'with escaped slashes',
      String.raw`"https:\/\/cdn.example.com\/a\/b?sig=1\u0026x=2"`,
      String.raw`"https:\/\/cdn.example.com/…"`,
    ],
    ['with a password', 'at https://user:pass@files.example.com/x now', 'at https://files.example.com/… now'],
    ['without a path', 'see https://example.com for more', 'see https://example.com for more'],
    ['of data', '<img src="data:image/png;base64,iVBORw0KGgo=">', '<img src="data:…">'],
  ])('%s', (_what, text, shown) => {
    expect(withoutSecrets(text)).toBe(shown);
  });

  it('and a file in base64 to its length', () => {
    expect(withoutSecrets(`{"b64":"${'iVBORw0KGgo'.repeat(100)}"}`)).toBe('{"b64":"[1100 characters]"}');
  });
});

const words = (count: number, seed: string): string =>
  Array.from({ length: count }, (_, nth) => `${seed}${nth * 7919}`).join(' ');
const prompt = `A "quoted" líne\nand ${words(40, 'cat')}`.slice(0, 300);
const inputOf = (body: object) => Buffer.from(JSON.stringify(body));
const python = (text: string) =>
  JSON.stringify(text).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

describe('a reply that quotes a prompt of 300 characters shows at most 200 of them', () => {
  const input = inputOf({ prompt, n: 1 });
  it.each([
    ['as it is', prompt],
    ['in JSON', JSON.stringify({ error: { prompt } })],
    ['in JSON as Python writes it', `{"prompt": ${python(prompt)}}`],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ prompt }))],
    ['in capitals', prompt.toUpperCase()],
    ['from the middle', `…${prompt.slice(20)}`],
  ])('%s', (_what, quoted) => {
    const shown = withoutEchoes(`Rejected: ${quoted}, because it is long`, input);
    expect(shown).toMatch(/^Rejected: .*\[\d+ characters of the input\].*, because it is long$/s);
    const cats = (shown.match(/cat\d+/gi) ?? []).join(' ');
    expect(cats.length).toBeGreaterThan(100);
    expect(cats.length).toBeLessThanOrEqual(maxEchoed);
  });

  it('also if it quotes many short texts', () => {
    const messages = Array.from({ length: 20 }, (_, nth) => ({ text: words(5, `m${nth}-`) }));
    const shown = withoutEchoes(JSON.stringify({ messages }), inputOf({ messages }));
    expect((shown.match(/m\d+-\d+/g) ?? []).join('').length).toBeLessThanOrEqual(maxEchoed);
  });
});

it('a reply that quotes less of the input, or none of it, is shown whole', () => {
  const own = `{"error":"${words(50, 'reason')}"}`;
  expect(withoutEchoes(own, inputOf({ prompt }))).toBe(own);
  const short = `"${prompt.slice(30, 180)}" is not allowed`;
  expect(withoutEchoes(short, inputOf({ prompt }))).toBe(short);
});

it('without the input, long strings are shortened', () => {
  expect(withoutLongStrings(`{"code":5,"message":"${'a b'.repeat(100)}","more":"x"}`)).toBe(
    `{"code":5,"message":"${'a b'.repeat(33)}[201 more characters]","more":"x"}`,
  );
  expect(withoutLongStrings('no '.repeat(100))).toMatch(/^(no ){66}no\[100 more characters\]$/);
});

it('a hostile reply or input does not keep the worker busy', () => {
  const text = 'ab'.repeat(4096);
  const input = inputOf({ prompt: 'ab'.repeat(100_000) });
  expect(withoutEchoes(text, input).length).toBeLessThan(300);
  expect(withoutSecrets('https:\\/\\/'.repeat(800)).length).toBeLessThan(9000);
  expect(withoutSecrets('token token: '.repeat(600)).length).toBeLessThan(9000);
});
