import net from 'node:net';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

/** Everything the gateway answers to these bytes until it closes the connection. */
async function answerTo(bytes: string): Promise<string> {
  const { port } = new URL(gateway().url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = net.connect({ port: Number(port), host: '127.0.0.1' }, () => socket.write(bytes));
    socket.setTimeout(20_000, () => {
      reject(new Error('the connection stayed open'));
      socket.destroy();
    });
    socket
      .on('data', (chunk) => (answer += chunk.toString()))
      // If the gateway closes before it has read everything, the answer may be followed by a reset.
      .on('error', (error) => (answer === '' ? reject(error) : undefined))
      .on('close', () => resolve(answer));
  });
}

it.each([
  ['no HTTP', 'HELLO\r\n\r\n'],
  ['two lengths', 'POST /v2/models HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  [
    'a length and chunks',
    'POST /v2/models HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a folded header', 'GET /v2/models HTTP/1.1\r\nHost: a\r\nX-A: a\r\n b\r\n\r\n'],
  ['headers of 64 KiB', `GET /v2/models HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(65_536)}\r\n\r\n`],
  ['two hosts', 'GET /v2/models HTTP/1.1\r\nHost: a\r\nhOST: a\r\nConnection: close\r\n\r\n'],
  ['no host', 'GET /v2/models HTTP/1.1\r\nConnection: close\r\n\r\n'],
])('%s is rejected, and the connection closes', async (_what, bytes) => {
  const [head = '', body = ''] = (await answerTo(bytes)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(head).toMatch(/x-service-request-id: [0-9a-f-]{36}/i);
  expect(head).toMatch(/x-service-error-type: invalid_input/i);
  expect(JSON.parse(body)).toEqual({ detail: expect.any(String), error_type: 'invalid_input' });
});

it.each([
  ['a folded header', 'X-A: a\r\n b'],
  ['headers of 64 KiB', `X-A: ${'a'.repeat(65_536)}`],
])('a list of nodes with %s is rejected in the registry’s shape', async (_what, header) => {
  const [head = '', body = ''] = (
    await answerTo(`GET /nodes HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`)
  ).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(head).not.toMatch(/x-service-error-type/i);
  expect(JSON.parse(body)).toEqual({ error: 'invalid_input', message: expect.any(String) });
});

it('a request line with a whole URL is routed by its path', async () => {
  const answer = await answerTo('GET http://x/v2/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(answer).toContain('"error_type":"unauthorized"');
});

/** The origin in the answer to a call with this host. */
async function originNamed(host: string): Promise<string | undefined> {
  const answer = await answerTo(`GET /llms.txt HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return /\((http.*)\/openapi\.json\)/.exec(answer)?.[1];
}

it('URLs use the host of the call, or the connected address if the host is invalid', async () => {
  expect(await originNamed('a:65535')).toBe('http://a:65535');
  for (const host of ['a:65536', 'a:99999', 'a:123456', 'a/b'])
    expect([host, await originNamed(host)]).toEqual([host, gateway().url]);
});
