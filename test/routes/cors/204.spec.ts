import { expect, it } from '@jest/globals';
import { gatewayForFile, sharedGateway } from '../gateways.js';

const ours = 'https://app.example.com';
const gateway = gatewayForFile({
  CORS_ALLOWED_ORIGINS: `https://other.example.com,${ours},http://localhost:*`,
});
const closed = sharedGateway();

const preflight = (base: string, origin: string, path = '/v2/models/bfl/flux-2-pro/requests') =>
  fetch(`${base}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-api-key',
    },
  });

it('pages of an allowed origin may call and read, failures included', async () => {
  const asked = await preflight(gateway().url, ours);
  expect([asked.status, Object.fromEntries(asked.headers)]).toEqual([
    204,
    expect.objectContaining({
      'access-control-allow-origin': ours,
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': 'content-type,x-api-key',
      'access-control-max-age': '86400',
      vary: 'Origin',
    }),
  ]);
  const answer = await fetch(`${gateway().url}/v2/models`, { headers: { origin: ours } });
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, ours]);
  const exposed = answer.headers.get('access-control-expose-headers')?.split(', ');
  expect(exposed).toEqual(
    expect.arrayContaining([
      'X-Service-Request-Id',
      'X-Service-Run-Id',
      'X-Service-Error-Type',
      'Retry-After',
      'X-Fal-Request-Id',
    ]),
  );
  expect((await preflight(gateway().url, ours, '/fal/proxy')).status).toBe(204);
});

it('pages of an origin with any port may call, whatever their port', async () => {
  for (const origin of ['http://localhost:5173', 'http://localhost', 'http://localhost:3000']) {
    const asked = await preflight(gateway().url, origin);
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
  }
});

it('other pages get no permission, and no page does if no origin is allowed', async () => {
  for (const [base, origin] of [
    [gateway().url, 'https://app.example.com.evil.example'],
    [gateway().url, 'https://app.example.com:8443'],
    [gateway().url, 'https://localhost:3000'],
    [gateway().url, 'http://localhost.evil.example:3000'],
    [gateway().url, 'null'],
    [closed().url, ours],
  ] as const) {
    const asked = await preflight(base, origin);
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([404, null]);
  }
  const v1 = await fetch(`${gateway().url}/v1/models`, { headers: { origin: ours } });
  expect(v1.headers.get('access-control-allow-origin')).toBeNull();
  const nodes = await fetch(`${gateway().url}/nodes`, { headers: { origin: 'https://any.example' } });
  expect(nodes.headers.get('access-control-allow-origin')).toBe('*');
});
