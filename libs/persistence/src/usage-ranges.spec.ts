import { describe, expect, it } from '@jest/globals';
import { type Span, usageParts } from './usage-ranges.js';

const at = (text: string): number => Date.parse(`2026-11-${text}Z`);
const parts = (from: string, until: string, addedUntil: string) =>
  usageParts([at(from), at(until)], at(addedUntil));
const span = (from: string, until: string): Span => [at(from), at(until)];

describe('the parts of a time range', () => {
  it('are whole days, the hours beside them and the records at both ends', () => {
    expect(parts('01T10:20:30', '25T12:40:00', '25T12:00:00')).toEqual({
      record: [span('01T10:20:30', '01T11:00:00'), span('25T12:00:00', '25T12:40:00')],
      hour: [span('01T11:00:00', '02T00:00:00'), span('25T00:00:00', '25T12:00:00')],
      day: [span('02T00:00:00', '25T00:00:00')],
    });
  });

  it('are records after the last hour that is added up, and hours in the last day', () => {
    expect(parts('01T00:00:00', '25T12:40:00', '23T03:00:00')).toEqual({
      record: [span('23T03:00:00', '25T12:40:00')],
      hour: [span('23T00:00:00', '23T03:00:00')],
      day: [span('01T00:00:00', '23T00:00:00')],
    });
  });

  it('are hours and records within one day, and records only within one hour or before the first sum', () => {
    expect(parts('01T10:20:00', '01T13:10:00', '25T00:00:00')).toEqual({
      record: [span('01T10:20:00', '01T11:00:00'), span('01T13:00:00', '01T13:10:00')],
      hour: [span('01T11:00:00', '01T13:00:00')],
      day: [],
    });
    for (const [from, until, added] of [
      ['01T10:20:00', '01T10:40:00', '25T00:00:00'],
      ['01T10:20:00', '01T11:40:00', '25T00:00:00'],
      ['02T10:20:00', '04T11:40:00', '02T11:00:00'],
    ] as const)
      expect(parts(from, until, added)).toEqual({ day: [], hour: [], record: [span(from, until)] });
  });

  it('of all time are all sums and the records after them, and none of an empty range', () => {
    expect(usageParts([-Infinity, Infinity], at('23T03:00:00'))).toEqual({
      day: [[-Infinity, at('23T00:00:00')]],
      hour: [span('23T00:00:00', '23T03:00:00')],
      record: [[at('23T03:00:00'), Infinity]],
    });
    expect(usageParts([-Infinity, Infinity], -Infinity)).toEqual({
      day: [],
      hour: [],
      record: [[-Infinity, Infinity]],
    });
    expect(parts('03T00:00:00', '01T00:00:00', '25T00:00:00')).toEqual({ day: [], hour: [], record: [] });
  });

  it('cover each moment once', () => {
    const quarterMs = 15 * 60_000;
    const start = at('01T00:00:00');
    for (let from = 0; from < 200; from += 7)
      for (let until = 0; until < 300; until += 11)
        for (const added of [0, 8, 96, 132, 288]) {
          const range: Span = [start + from * quarterMs, start + until * quarterMs];
          const { day, hour, record } = usageParts(range, start + added * quarterMs);
          const covered = [...day, ...hour, ...record].toSorted(([one], [other]) => one - other);
          const ends = covered.flatMap(([begins, ended]) => [begins, ended]);
          expect(ends.filter((end, index) => ends[index % 2 === 0 ? index - 1 : index + 1] !== end)).toEqual(
            until > from ? [...range] : [],
          );
        }
  });
});
