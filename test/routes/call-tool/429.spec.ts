import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { gatewayForFile } from '../gateways.js';

const maxConnections = 24;
const gateway = gatewayForFile({ MAX_CONNECTIONS: String(maxConnections) });

/** Calls a tool from a separate address, so that only the workspace's share counts. */
async function callTool(key: string, name: string, input: object, nth = 0) {
  const call = request(`${gateway().url}/mcp`, {
    method: 'POST',
    localAddress: `127.0.3.${nth + 1}`,
    agent: false,
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  });
  const params = { name, arguments: input };
  call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

it('a call that waits for a run is rejected once the workspace has used its share of connections', async () => {
  const { caller } = await gateway().caller();
  const other = await gateway().caller();
  // No worker takes it.
  const { model, requestId } = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const input = { model, request_id: requestId, wait_seconds: 5 };

  const calls = Array.from({ length: maxConnections / 2 + 2 }, (_, nth) =>
    callTool(caller.key, 'get_run', input, nth),
  );
  // Rejected calls answer at once, the others after their wait.
  await Promise.race(calls);
  const meanwhile = [
    await callTool(caller.key, 'find_models', {}),
    await callTool(other.caller.key, 'get_run', { ...input, wait_seconds: 0 }),
  ];
  const answers = await Promise.all(calls);
  const later = await callTool(caller.key, 'get_run', { ...input, wait_seconds: 0 });

  expect(meanwhile.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.filter(({ status }) => status === 200).length).toBe(maxConnections / 2);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(({ status }) => status)).toEqual([429, 429]);
  expect(JSON.parse(refused[0]?.body ?? '')).toEqual({
    error: 'concurrency_limit_exceeded',
    message: expect.stringContaining('too many open connections'),
  });
  expect(later.status).toBe(200);
});
