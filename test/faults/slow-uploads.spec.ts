import net from 'node:net';
import { expect, it } from '@jest/globals';
import type { Caller } from '../harness/index.js';
import { gatewayForFile } from '../routes/gateways.js';

const gateway = gatewayForFile();
const path = '/v2/models/bfl/flux-2-pro/requests';
const bytes = 32 * 1024 * 1024;

/** Sends a body without its last byte, then nothing. Returns the status. */
function slowUpload({ key }: Caller): Promise<string | undefined> {
  const { port } = new URL(gateway().url);
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}`;
  return new Promise((resolve) => {
    let answer = '';
    const socket = net.connect({ port: Number(port), host: '127.0.0.1' }, () => {
      socket.write(`${head}\r\n\r\n`);
      socket.write(Buffer.alloc(bytes - 1, 'x'));
    });
    socket
      .on('data', (chunk) => {
        answer += chunk.toString();
        if (answer.includes('\r\n\r\n')) socket.destroy();
      })
      .on('error', () => {})
      .on('close', () => resolve(/(?<=^HTTP\/1\.1 )\d+/.exec(answer)?.[0]));
  });
}

it('eight slow uploads of 32 MiB in one workspace do not block other workspaces, and are ended', async () => {
  const [{ caller: slow }, { caller }] = await Promise.all([
    gateway().caller(),
    gateway().caller({ inflightLimit: 1000, backlogLimit: 10_000, windowLimit: 10_000 }),
  ]);
  const beganMs = performance.now();
  const ended: { status: string | undefined; afterS: number }[] = [];
  for (let nth = 0; nth < 8; nth += 1) {
    void slowUpload(slow).then((status) =>
      ended.push({ status, afterS: Math.round((performance.now() - beganMs) / 1000) }),
    );
  }
  const statuses: Record<number, number> = {};
  const count = ({ status }: { status: number }) => (statuses[status] = (statuses[status] ?? 0) + 1);
  for (let nth = 0; ended.length < 8; nth += 1) {
    count(await caller.call('POST', path, { body: '{"prompt":"x"}' }));
    if (nth === 20)
      count(await caller.call('POST', path, { body: `{"prompt":"${'x'.repeat(bytes - 13)}"}` }));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.stderr.write(`others: ${JSON.stringify(statuses)}, uploads: ${JSON.stringify(ended)}\n`);
  expect(Object.keys(statuses)).toEqual(['201']);
  for (const { status, afterS } of ended) {
    expect(['400', '503']).toContain(status);
    expect(afterS).toBeLessThan(60);
  }
});
