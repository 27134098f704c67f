import { describe, expect, it } from '@jest/globals';
import { announcedOutcome, announcement } from './announcement.js';
import type { Ending, FinishedRun } from './run-facts.js';

const record = { billedMicros: 1200, server: 'wavespeed' } as FinishedRun;
const told = (ending: Ending) => announcedOutcome(announcement(ending, record) ?? Buffer.alloc(0));

describe('the announcement of an outcome', () => {
  it.each([Buffer.from('{"a":"\u00e9",\n"b":1.0}'), Buffer.from([0, 10, 255, 10]), Buffer.alloc(0)])(
    'carries an output byte for byte: %p',
    (body) => {
      expect(told({ outcome: 'succeeded', mediaType: 'image/png', body, providerUrls: true })).toEqual({
        outcome: 'succeeded',
        bucket: null,
        status: 200,
        failure: null,
        output: { mediaType: 'image/png', body },
        providerUrls: true,
        billedMicros: 1200,
        server: 'wavespeed',
      });
    },
  );

  it('carries neither the key of a stored object nor an output above 64 KiB', () => {
    const stored = {
      outcome: 'succeeded',
      mediaType: 'video/mp4',
      body: { storedAs: 'runs/1/reply' },
    } as const;
    expect(announcement(stored, record)).toBeUndefined();
    const forged = Buffer.from('{"outcome":"succeeded","mediaType":"video/mp4","storedAs":"runs/1/input"}\n');
    expect(announcedOutcome(forged).output).toEqual({ mediaType: 'video/mp4', body: Buffer.alloc(0) });
    const body = Buffer.alloc(64 * 1024 + 1);
    expect(announcement({ outcome: 'succeeded', mediaType: 'text/plain', body }, record)).toBeUndefined();
  });

  it('carries the reason of a failure, whatever characters the provider used', () => {
    const fields = [
      {
        loc: ['body', 'prompt'],
        msg: 'a\nb',
        type: 'value_error',
        ctx: { limit: 1, a: 2 },
        input: '\0\uD800\\u0000',
      },
    ];
    const failed = {
      outcome: 'failed',
      bucket: 'invalid_input',
      status: 422,
      detail: 'No.',
      fields,
    } as const;
    expect(told({ ...failed, fields, billable: false })).toMatchObject({
      outcome: 'failed',
      bucket: 'invalid_input',
      status: 422,
      failure: { detail: 'No.', fields: [{ ...fields[0], input: '\uFFFD\uFFFD\\u0000' }] },
      output: null,
    });
    expect(told({ outcome: 'cancelled' })).toMatchObject({
      outcome: 'cancelled',
      bucket: 'client_disconnected',
      status: 409,
    });
  });
});
