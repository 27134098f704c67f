import { describe, expect, it } from '@jest/globals';
import { createHmac, randomBytes } from 'node:crypto';
import { verifyWebhook, WebhookVerificationError } from './index.js';

const secret = `whsec_${randomBytes(24).toString('base64')}`;
const body = '{"type":"run.completed","timestamp":"2026-11-23T00:00:00Z","data":{"request_id":"r"}}';

function signed({ by = secret, text = body, ageS = 0 } = {}): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageS);
  const code = createHmac('sha256', Buffer.from(by.replace('whsec_', ''), 'base64'))
    .update(`msg_1.${timestamp}.${text}`)
    .digest('base64');
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1a,AAAA v1,${code}`,
  };
}
const refused = (...call: Parameters<typeof verifyWebhook>) =>
  expect(verifyWebhook(...call)).rejects.toBeInstanceOf(WebhookVerificationError);

describe('verifyWebhook', () => {
  it('returns the event of a request signed with the secret', async () => {
    const event = { type: 'run.completed', data: { request_id: 'r' } };
    expect(await verifyWebhook(body, signed(), secret)).toMatchObject(event);
    expect(await verifyWebhook(Buffer.from(body), new Headers(signed()), secret)).toMatchObject(event);
  });

  it('accepts either secret during a rotation', async () => {
    await expect(verifyWebhook(body, signed(), ['whsec_AAAA', secret])).resolves.toBeDefined();
    await refused(body, signed(), ['whsec_AAAA']);
  });

  it('reads headers in any case', async () => {
    const headers = Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]);
    await expect(verifyWebhook(body, Object.fromEntries(headers), secret)).resolves.toBeDefined();
  });

  it.each(['', 'whsec_', 'whsec_-_-_', 'change me!'])('rejects %j as a secret', async (bad) => {
    await expect(verifyWebhook(body, signed({ by: '' }), bad)).rejects.toThrow(TypeError);
    await expect(verifyWebhook(body, signed(), [secret, bad])).rejects.toThrow('Secret 2');
  });

  it('rejects a changed body, a wrong secret, a wrong time and missing headers', async () => {
    await refused(`${body} `, signed(), secret);
    await refused(body, signed({ by: 'whsec_AAAA' }), secret);
    await refused(body, signed({ ageS: 600 }), secret);
    await refused(body, signed({ ageS: -600 }), secret);
    await refused(body, { ...signed(), 'webhook-timestamp': 'now' }, secret);
    await refused(body, { ...signed(), 'webhook-signature': 'v1,!' }, secret);
    await refused(body, {}, secret);
  });
});
