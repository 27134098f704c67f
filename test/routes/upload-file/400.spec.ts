import net from 'node:net';
import { expect, it } from '@jest/globals';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

const rowsOf = async (workspaceId: string) => {
  const text = 'SELECT key FROM stored_object WHERE workspace_id = $1 AND delete_at > router_now()';
  return gateway().database.reads.query<{ key: string }>(text, [workspaceId]);
};

it('an empty file is rejected', async () => {
  const { caller, workspace } = await gateway().caller();
  for (const body of [undefined, new Uint8Array()]) {
    const answer = await caller.call('POST', '/v2/files', { ...(body && { body }) });
    expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  }
  expect(await rowsOf(workspace.id)).toEqual([]);
});

it('nothing is kept of a file whose connection is lost', async () => {
  const { caller, workspace } = await gateway().caller();
  const { port } = new URL(gateway().url);
  const socket = net.connect({ port: Number(port), host: '127.0.0.1' });
  socket.write(
    `POST /v2/files HTTP/1.1\r\nHost: a\r\nX-API-Key: ${caller.key}\r\nContent-Length: 1000000\r\n\r\n`,
  );
  socket.write(Buffer.alloc(500_000, 'x'));
  const begun = { withinMs: 60_000, what: 'the row of the file' };
  await waitFor(async () => (await rowsOf(workspace.id)).length === 1, begun);
  socket.destroy();
  const swept = { withinMs: 60_000, what: 'the row to be due for the sweep' };
  await waitFor(async () => (await rowsOf(workspace.id)).length === 0, swept);
});
