import { afterAll, expect, it } from '@jest/globals';
import type { Workspace } from '#persistence';
import type { Answer } from '../../harness/caller.js';
import { type TcpProxy, tcpProxy } from '../../harness/tcp-proxy.js';
import { waitFor } from '../../harness/wait-for.js';
import { gatewayForFile } from '../gateways.js';

const path = '/v2/models/bfl/flux-2-pro';
const body = '{"prompt":"x"}';

// A gateway of its own, because its connection to the database is cut.
let proxy: TcpProxy;
afterAll(() => proxy.close());
const gateway = gatewayForFile(async (databaseUrl) => {
  const url = new URL(databaseUrl);
  proxy = await tcpProxy({ port: Number(url.port), host: url.hostname });
  url.host = proxy.address;
  // How long a lost admission is looked up: enough for a busy machine, and two cases wait until it is over.
  return { DATABASE_URL: url.href, DATABASE_ACQUIRE_MS: '5000' };
});

const cut = () => {
  proxy.set('reset');
  proxy.set('pass');
};

/** A caller that the gateway has in its cache. Its first connections may be dead after the previous test. */
async function knownCaller() {
  const known = await gateway().caller();
  await waitFor(async () => (await known.caller.call('GET', path)).status === 200, {
    withinMs: 60_000,
    what: 'the gateway to reach its database',
  });
  return known;
}

/** Makes the call, and acts while its admission waits in the database; then the admission continues. */
async function whileAdmitting<Result>(
  { id }: Workspace,
  call: () => Promise<Answer>,
  act: (answering: Promise<Answer>) => Result | Promise<Result>,
): Promise<{ answering: Promise<Answer>; acted: Result }> {
  const dataSource = await gateway().database.dataSource();
  return await dataSource.transaction(async (manager) => {
    await manager.query('SELECT 1 FROM workspace WHERE id = $1 FOR NO KEY UPDATE', [id]);
    const answering = call();
    await gateway().waitsForLock('SELECT admit(');
    return { answering, acted: await act(answering) };
  });
}

it('a run whose admission lost its answer from the database is still answered with 201', async () => {
  const { caller, workspace } = await knownCaller();
  const submit = () => caller.call('POST', `${path}/requests`, { body });
  const { answering } = await whileAdmitting(workspace, submit, () => proxy.set('half-open'));
  const run = await gateway().admittedRun(workspace);
  cut();
  const answer = await answering;
  expect([answer.status, answer.json()['request_id']]).toEqual([201, run.requestId]);
});

it('a synchronous call whose admission lost its answer still gets its result', async () => {
  const { caller, workspace } = await knownCaller();
  const call = () => caller.call('POST', path, { body });
  const { answering } = await whileAdmitting(workspace, call, () => proxy.set('half-open'));
  const run = await gateway().admittedRun(workspace);
  cut();
  await gateway().finish(run, {
    outcome: 'succeeded',
    mediaType: 'application/json',
    body: Buffer.from('{}'),
  });
  expect((await answering).status).toBe(200);
});

it.each(['', '/requests'])(
  'a run without a key that is admitted after its caller got a 503 is cancelled: %s',
  async (route) => {
    const { caller, workspace } = await knownCaller();
    const call = () => caller.call('POST', `${path}${route}`, { body });
    const { acted } = await whileAdmitting(workspace, call, (answering) => {
      cut();
      return answering;
    });
    expect([acted.status, acted.bucket]).toEqual([503, 'service_unavailable']);
    const statement = `SELECT inflight, billed_micros::integer AS billed FROM run JOIN workspace ON workspace.id = workspace_id
        WHERE workspace_id = $1 AND outcome = 'cancelled'`;
    const withdrawn = async () => (await gateway().database.reads.query(statement, [workspace.id]))[0];
    const run = await waitFor(withdrawn, { withinMs: 60_000, what: 'the run to be withdrawn' });
    expect(run).toEqual({ inflight: 0, billed: 0 });
  },
);
