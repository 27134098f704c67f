import net from 'node:net';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway('small');
const body = '{"prompt":"x"}';

/** The answers to a caller that waits for `100 Continue` before it sends its body. */
async function answersTo(key: string, bytes: number): Promise<string[]> {
  const { port } = new URL(gateway().url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = net.connect({ port: Number(port), host: '127.0.0.1' }, () =>
      socket.write(
        [
          'POST /v2/models/bfl/flux-2-pro/requests HTTP/1.1',
          'Host: a',
          `X-API-Key: ${key}`,
          'Content-Type: application/json',
          `Content-Length: ${bytes}`,
          'Expect: 100-continue',
          '\r\n',
        ].join('\r\n'),
      ),
    );
    socket
      .setTimeout(20_000, () => socket.destroy(new Error('the connection stayed open')))
      .on('data', (chunk) => {
        answer += chunk.toString();
        if (answer.endsWith('100 Continue\r\n\r\n')) socket.write(body);
        else if (answer.includes('"request_id"')) socket.end();
      })
      .on('error', reject)
      .on('close', () => resolve(answer.match(/(?<=^HTTP\/1\.1 )\d+/gm) ?? []));
  });
}

it('the body may come once credential and length are checked', async () => {
  const { caller } = await gateway().caller();
  expect(await answersTo(caller.key, body.length)).toEqual(['100', '201']);
});

it('a call is rejected without its body, and the connection closes', async () => {
  const { caller } = await gateway().caller();
  expect(await answersTo('nobody', body.length)).toEqual(['401']);
  expect(await answersTo(caller.key, 10_001)).toEqual(['413']);
});
