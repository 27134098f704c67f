import { describe, expect, it, jest } from '@jest/globals';
import type { ReportedTerm } from '#schemas';
import { jsonOf } from './reply.js';
import { reportedMicros } from './read-reply.js';

const replyOf = (body: unknown, headers: Record<string, string> = {}) => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  body: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
});

const cost: ReportedTerm = { at: '/cost', micros: 10_000 };
const characters: ReportedTerm = { header: 'character-cost', micros: 100 };
const videos: ReportedTerm = { count: '/response/videos', micros: 800_000 };
const images: ReportedTerm = { at: '/details/*/tokens', only: { modality: 'IMAGE' }, micros: 30 };
const texts: ReportedTerm = {
  at: '/details/*/tokens',
  only: { modality: 'TEXT' },
  micros: 2.5,
  optional: true,
};
const small: ReportedTerm = { at: '/usage/n', only: { size: '1k' }, micros: 40, optional: true };
const large: ReportedTerm = { at: '/usage/n', only: { size: '2k' }, micros: 75, optional: true };
const fresh: ReportedTerm = { at: '/input', minus: '/cached', micros: 2 };
const cached: ReportedTerm = { at: '/cached', micros: 1, optional: true };
const short: ReportedTerm = { at: '/output', when: { at: '/input', up_to: 200 }, micros: 10 };
const long: ReportedTerm = { at: '/output', when: { at: '/input', above: 200 }, micros: 15 };
const longPrompt: ReportedTerm = {
  at: '/output',
  when: { at: '/input', plus: ['/read', '/cached'], above: 200 },
  micros: 15,
};

describe('the reported cost', () => {
  it.each<[string, ReportedTerm[], unknown, number | undefined]>([
    ['a number', [cost], { cost: 3 }, 30_000],
    ['a number as a text', [cost], { cost: '12.5' }, 125_000],
    ['zero', [cost], { cost: 0 }, 0],
    ['a rounding error', [{ at: '/cost', micros: 100_000.1 }], { cost: 3 }, 300_001],
    ['a member that is missing', [cost], { credits: 3 }, undefined],
    ['null', [cost], { cost: null }, undefined],
    ['a negative number', [cost], { cost: -3 }, undefined],
    ['a text that is not a number', [cost], { cost: '3 credits' }, undefined],
    ['an empty text', [cost], { cost: '' }, undefined],
    ['an object', [cost], { cost: { usd: 3 } }, undefined],
    ['an absurd number', [cost], '{"cost": 1e300}', undefined],
    ['infinity', [cost], '{"cost": 1e999}', undefined],
    ['the length of a list', [videos], { response: { videos: ['a', 'b'] } }, 1_600_000],
    ['an empty list', [videos], { response: { videos: [] } }, 0],
    ['no list', [videos], { response: { videos: 2 } }, undefined],
    ['a sum', [{ at: '/parts/*/n', micros: 1 }], { parts: [{ n: 1 }, { n: '2' }] }, 3],
    [
      'a sum with an invalid part',
      [{ at: '/parts/*/n', micros: 1 }],
      { parts: [{ n: 1 }, { n: -2 }] },
      undefined,
    ],
    [
      'chosen objects',
      [images, texts],
      {
        details: [
          { modality: 'IMAGE', tokens: 1290 },
          { modality: 'TEXT', tokens: 7 },
        ],
      },
      38_718,
    ],
    ['without an optional term', [images, texts], { details: [{ modality: 'IMAGE', tokens: 10 }] }, 300],
    ['only an optional term', [images, texts], { details: [{ modality: 'TEXT', tokens: 10 }] }, undefined],
    ['one of its kinds', [small, large, cached], { usage: { n: 2, size: '2k' }, cached: 1 }, 151],
    ['none of its kinds', [small, large, cached], { usage: { n: 2, size: '4k' }, cached: 1 }, undefined],
    ['no kind at all', [small, large, cached], { cached: 1 }, undefined],
    ['a surcharge of one kind that is missing', [cached, large], { cached: 1 }, 1],
    ['a number less its part', [fresh, cached], { input: 10, cached: 4 }, 16],
    ['a number whose part is missing', [fresh, cached], { input: 10 }, 20],
    ['a number less than its part', [fresh, cached], { input: 3, cached: 4 }, 4],
    ['the term of its range', [short, long], { input: 200, output: 3 }, 30],
    ['the term of the next range', [short, long], { input: 201, output: 3 }, 45],
    ['a range whose number is missing', [short, long], { output: 3 }, 30],
    ['a range of several numbers', [longPrompt], { input: 100, cached: 100, output: 3 }, 0],
    ['a range that several numbers reach', [longPrompt], { input: 100, cached: 101, output: 3 }, 45],
    ['a reply that is not JSON', [cost], 'cost: 3', undefined],
    ['nothing if there are no terms', [], { cost: 3 }, undefined],
  ])('is read from %s', (_what, terms, body, micros) =>
    expect(reportedMicros(terms, replyOf(body))).toBe(micros),
  );

  it('is read from a header, even if the reply is a file', () => {
    const file = replyOf('ID3', { 'content-type': 'audio/mpeg', 'character-cost': '36' });
    expect(reportedMicros([characters], file)).toBe(3600);
    expect(reportedMicros([characters], { ...file, body: new Uint8Array(), storedAs: 'key' })).toBe(3600);
    expect(reportedMicros([characters, cost], file)).toBeUndefined();
    expect(reportedMicros([characters], replyOf({}))).toBeUndefined();
  });

  it('is undefined without a reply', () => {
    expect(reportedMicros([cost], { fault: 'ambiguous', cause: 'timeout' })).toBeUndefined();
  });

  it('is read from the JSON that the adapter has parsed', () => {
    const reply = replyOf({ cost: 3 });
    jsonOf(reply);
    const parse = jest.spyOn(JSON, 'parse');
    expect(reportedMicros([cost], reply)).toBe(30_000);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });
});
