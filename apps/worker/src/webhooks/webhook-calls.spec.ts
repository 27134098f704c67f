import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { signatures } from './webhook-calls.js';

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
