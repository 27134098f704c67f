import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { beginningOf, signatures } from './webhook-calls.js';

const secret = () => `whsec_${randomBytes(32).toString('base64')}`;

describe('a signature', () => {
  it('matches the official library, with one signature for each secret', () => {
    const [first, second] = [secret(), secret()];
    const at = new Date();
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const body = Buffer.from('{"text":"é"}');
    const made = signatures([first, second], 'msg', timestamp, body);
    expect(made.split(' ')).toEqual(
      [first, second].map((each) => new Webhook(each).sign('msg', at, body.toString())),
    );
    const headers = { 'webhook-id': 'msg', 'webhook-timestamp': timestamp, 'webhook-signature': made };
    for (const each of [first, second]) new Webhook(each).verify(body.toString(), headers);
    expect(() => new Webhook(secret()).verify(body.toString(), headers)).toThrow('No matching signature');
    expect(() => new Webhook(first).verify('{}', headers)).toThrow('No matching signature');
  });
});

describe('the beginning of an answer', () => {
  it('is at most 2 KiB of text that the database can store, and never half a character', async () => {
    expect(await beginningOf(body('a\0b\u0007\r\n\tc', '<i>'))).toBe('a\uFFFDb\uFFFD\r\n\tc<i>');
    expect(await beginningOf(body('x'.repeat(2047), 'é'))).toBe('x'.repeat(2047));
    expect(await beginningOf(body(Uint8Array.of(0xff)))).toBe('\uFFFD');
  });

  it('is what arrived of a body that breaks off, and of an endless one', async () => {
    expect(await beginningOf(broken())).toBe('half');
    expect(await beginningOf(endless())).toBe('y'.repeat(2048));
  });
});

async function* body(...chunks: (string | Uint8Array)[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function* broken() {
  yield Buffer.from('half');
  throw new Error('reset');
}

async function* endless() {
  for (;;) yield Buffer.alloc(1024, 'y');
}
