import { describe, expect, it } from '@jest/globals';

import type { HttpReply } from './contract.js';
import { jsonOf, retryAfterMs } from './reply.js';

const date = 'Thu, 01 Jan 2026 00:00:00 GMT';

describe('retryAfterMs', () => {
  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': ' 0 ' }, undefined],
    [{ 'ratelimit-reset': '0' }, undefined],
    [{ 'retry-after': '5, 5', date }, undefined],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after': '86400' }, 300_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT', date }, 9000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT', date }, undefined],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, undefined],
    [{ 'retry-after': 'soon', date }, undefined],
    [{ 'retry-after': '-3', date: 'not a date' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ] as [Record<string, string>, number | undefined][])('%j is %s ms', (headers, waitMs) => {
    expect(retryAfterMs({ status: 429, headers, body: new Uint8Array() })).toBe(waitMs);
  });
});

const reply = (text: string): HttpReply => ({ status: 200, headers: {}, body: Buffer.from(text) });

describe('jsonOf', () => {
  const boxes = `[${Array.from({ length: 1_000_000 }, () => '[]').join()}]`;

  it('omits the part of a reply that has more than a million arrays and objects', () => {
    expect(jsonOf(reply(`{"status":"succeeded","output":${boxes},"usage":{"images":[{}]}}`))).toEqual({
      status: 'succeeded',
      output: '(left out)',
      usage: { images: [{}] },
    });
  });

  it.each([boxes.slice(0, -1), `${boxes.slice(0, -1)},${'['.repeat(600)}${']'.repeat(601)}`])(
    'is undefined if such a part is cut off or too deep',
    (text) => expect(jsonOf(reply(text))).toBeUndefined(),
  );
});
