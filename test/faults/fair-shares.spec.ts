import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { waitFor } from '../harness/index.js';
import { operatorDatabase } from '../harness/long-timeouts.js';
import { gatewayForFile } from '../routes/gateways.js';

/** Makes a call from one of this machine's addresses. */
async function callFrom(
  localAddress: string,
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; response: IncomingMessage }> {
  const call = request(url, { localAddress, agent: false, headers });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return { status: response.statusCode, response };
}

describe('connections', () => {
  const gateway = gatewayForFile();
  const silentCount = 10_000;

  it(`remain for others while one address opens ${silentCount} and stays silent`, async () => {
    const { caller } = await gateway().caller();
    const port = Number(new URL(gateway().url).port);
    const sockets: net.Socket[] = [];
    let settled = 0;
    for (let nth = 0; nth < silentCount; nth += 1) {
      const socket = net.connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' });
      sockets.push(socket);
      let isSettled = false;
      const settle = () => {
        if (!isSettled) settled += 1;
        isSettled = true;
      };
      socket.on('error', settle).on('close', settle).on('connect', settle).resume();
      if (nth % 200 === 199)
        await waitFor(async () => settled === sockets.length, {
          withinMs: 60_000,
          what: 'connections',
          everyMs: 10,
        });
    }
    const statuses: (number | undefined)[] = [];
    for (let nth = 0; nth < 30; nth += 1) {
      const { status, response } = await callFrom('127.0.0.8', `${gateway().url}/v2/models`, {
        'x-api-key': caller.key,
      });
      await text(response);
      statuses.push(status);
    }
    const open = sockets.filter((socket) => !socket.destroyed && socket.readyState === 'open').length;
    process.stderr.write(
      `${silentCount} silent connections: ${open} open, others ${statuses.length} calls\n`,
    );
    for (const socket of sockets) socket.destroy();
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(open).toBeLessThan(2600);
  });
});

describe('synchronous calls and streams', () => {
  const gateway = gatewayForFile({ MAX_CONNECTIONS: '200' });

  it('of one workspace leave room for others, whatever addresses they come from', async () => {
    const one = await gateway().caller();
    const other = await gateway().caller();
    const streamOf = async ({ caller }: typeof one) => {
      const { model, requestId } = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
      return `${gateway().url}/v2/models/${model}/requests/${requestId}/status/stream`;
    };
    const url = await streamOf(one);
    const open: IncomingMessage[] = [];
    const statuses: (number | undefined)[] = [];
    for (let nth = 0; nth < 130; nth += 1) {
      const { status, response } = await callFrom(`127.0.0.${2 + (nth % 5)}`, url, {
        'x-api-key': one.caller.key,
      });
      statuses.push(status);
      if (status === 200) open.push(response.resume());
      else await text(response);
    }
    const { status, response } = await callFrom('127.0.0.9', await streamOf(other), {
      'x-api-key': other.caller.key,
    });
    process.stderr.write(`130 streams of one workspace: ${open.length} open\n`);
    for (const each of [...open, response]) each.destroy();
    expect(statuses).toEqual(Array.from({ length: 130 }, (_, nth) => (nth < 100 ? 200 : 429)));
    expect(status).toBe(200);
  });
});

describe('lists', () => {
  const gateway = gatewayForFile({
    TRUSTED_PROXIES: '127.0.0.1',
    DATABASE_ACQUIRE_MS: '2000',
    DATABASE_STATEMENT_MS: '5000',
  });
  const records = 500_000;
  const floodMs = 15_000;

  it('of a workspace, and the registry, are readable while another workspace requests its usage continuously', async () => {
    const scopes = ['requests', 'usage'];
    const one = await gateway().caller({}, scopes);
    const other = await gateway().caller({}, scopes);
    const unlimited = operatorDatabase(gateway().databaseUrl);
    await unlimited.work.query(
      `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
         caller_left, admitted_at, completed_at, cost_micros, billed_micros)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'token:x', 'a/' || n % 100, 'bfl', 'POST', 'succeeded', NULL, 200,
         false, now() - n * interval '1 second', now() - n * interval '1 second', 1, 0
       FROM generate_series(1, $2::integer) AS n`,
      [one.workspace.id, records],
    );
    await unlimited.close();
    const from = new Date(Date.now() - records * 1000).toISOString();
    const read = async (key: string, path: string) => {
      const beganMs = performance.now();
      const answer = await fetch(`${gateway().url}${path}`, { headers: { 'x-api-key': key } });
      await answer.arrayBuffer();
      return { path, status: answer.status, ms: performance.now() - beganMs };
    };
    const usage = `/v2/usage?from=${from}&group_by=day,model`;

    const untilMs = performance.now() + floodMs;
    const flood: Record<string, number> = {};
    const flooding = Array.from({ length: 60 }, async () => {
      while (performance.now() < untilMs) {
        const { status } = await read(one.caller.key, usage);
        flood[status] = (flood[status] ?? 0) + 1;
        if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 200));
      }
    });
    const others: Awaited<ReturnType<typeof read>>[] = [];
    while (performance.now() < untilMs) {
      for (const path of ['/v2/requests', '/v2/usage', '/nodes?latest=true'])
        others.push(await read(other.caller.key, path));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await Promise.all(flooding);
    const slowest = Math.round(Math.max(...others.map(({ ms }) => ms)));
    process.stderr.write(
      `usage of one workspace: ${JSON.stringify(flood)}; others: ${others.length} reads, slowest ${slowest} ms\n`,
    );
    expect(others.filter(({ status }) => status !== 200)).toEqual([]);
  });
});
