import type { OperatorRunList, Page, RouterRefusal } from '#schemas';
import { expect, it } from '@jest/globals';
import { keptStatuses } from '../../../apps/gateway/src/answers/refused-calls.js';
import type { Caller } from '../../harness/caller.js';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';
import { bearer } from '../generations.js';
import { type RouteWithBody, routesWithBody } from '../served-routes.js';

const gateway = sharedGateway();
const routes = (await routesWithBody()).map((route) =>
  route.path === '/replicate/v1/predictions'
    ? { ...route, usual: { ...route.usual, model: 'black-forest-labs/flux-schnell' } }
    : route,
);
const submit = '/v2/models/bfl/flux-2-pro/requests';

const callIdOf = (headers: Headers) => headers.get('x-service-request-id') ?? '';

async function listed(caller: Caller, query = 'limit=100'): Promise<RouterRefusal[]> {
  const answer = await caller.call('GET', `/v2/refusals?${query}`);
  expect(answer.status).toBe(200);
  return (answer.json() as Page<RouterRefusal>).data;
}

/** The refused call with this id, once the gateway has written it. */
const foundBy = (caller: Caller, id: string): Promise<RouterRefusal> =>
  waitFor(async () => (await listed(caller, `request_id=${id}`))[0], {
    withinMs: 60_000,
    what: 'a refused call to be listed',
  });

/** Calls a route as a caller of either generation would. */
async function call({ key }: Caller, workspaceId: string, { method, path, usual }: RouteWithBody) {
  const credential = path.startsWith('/v1/') ? await bearer(workspaceId) : { 'x-api-key': key };
  const response = await fetch(`${gateway().url}${path}`, {
    method,
    headers: { ...credential, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(usual),
    signal: AbortSignal.timeout(30_000),
  });
  await response.arrayBuffer();
  return { status: response.status, id: callIdOf(response.headers) };
}

/** Refuses every run, so that no call waits for one. */
const noRuns = { windowLimit: 0 };

/** For each status that is kept: a workspace whose calls are refused with it, and what they send. */
const causes: Record<number, { facts: object; body: (usual: Record<string, unknown>) => object }> = {
  402: { facts: { ...noRuns, balanceMicros: 0 }, body: (usual) => usual },
  422: { facts: noRuns, body: ({ model }) => ({ model }) },
  429: { facts: noRuns, body: (usual) => usual },
};

async function callAll(called: readonly RouteWithBody[], { facts, body }: (typeof causes)[number]) {
  const { caller, workspace } = await gateway().caller(facts, ['run', 'catalog', 'requests']);
  const made = [];
  for (const route of called) {
    const answer = await call(caller, workspace.id, { ...route, usual: { ...body(route.usual) } });
    made.push({ ...answer, route });
  }
  return { caller, made };
}

it('every route that runs a model keeps its refusals, with each status', async () => {
  expect(Object.keys(causes).map(Number)).toEqual(keptStatuses);
  const running = (await callAll(routes, { facts: noRuns, body: (usual) => usual })).made
    .filter(({ status }) => status === 429)
    .map(({ route }) => route);
  expect(running.map(({ route }) => route)).toEqual(
    expect.arrayContaining([
      'POST /v1/models/:provider/:model',
      'POST /v2/models/:provider/:model',
      'POST /v2/models/:provider/:model/requests',
      'POST /anthropic/v1/messages',
      'POST /openai/v1/responses',
      'POST /replicate/v1/predictions',
    ]),
  );
  for (const status of keptStatuses) {
    const cause = causes[status];
    if (cause === undefined) throw new Error(`no cause of ${status}`);
    const { caller, made } = await callAll(running, cause);
    expect(made.filter((each) => each.status === status).length).toBeGreaterThan(running.length / 2);
    const refused = made.filter((each) => keptStatuses.includes(each.status));
    const kept = await waitFor(
      async () => {
        const calls = await listed(caller);
        return calls.length >= refused.length ? calls : undefined;
      },
      { withinMs: 60_000, what: `the calls refused with ${status} to be listed` },
    );
    expect(kept.map((each) => [each.request_id, each.status])).toEqual(
      refused.map((each) => [each.id, each.status]).toReversed(),
    );
  }
});

it('has the facts of a refusal, for its caller and for operators', async () => {
  const { caller, workspace } = await gateway().caller({}, ['run', 'requests']);
  const stranger = await gateway().caller({}, ['requests']);
  const operator = await gateway().caller({}, ['operate']);
  const refused = await caller.call('POST', submit, { body: '{"prompt":1,"width":"a secret"}' });
  expect(refused.status).toBe(422);
  const id = callIdOf(refused.headers);
  const kept = await foundBy(caller, id);
  expect(kept).toEqual({
    request_id: id,
    created_at: expect.any(String),
    route: 'POST /v2/models/{provider}/{model}/requests',
    model: 'bfl/flux-2-pro',
    status: 422,
    error_type: 'invalid_input',
    detail: 'The model does not accept this input.',
    fields: expect.arrayContaining([{ name: 'body.prompt', type: 'string_type' }]),
  });
  expect(JSON.stringify(kept)).not.toContain('secret');
  expect(await listed(stranger.caller, `request_id=${id}`)).toEqual([]);
  const found = await operator.caller.call('GET', `/v2/operator/runs?request_id=${id}`);
  expect(found.json() as OperatorRunList).toMatchObject({
    data: [],
    refusal: { ...kept, workspace: { id: workspace.id, name: workspace.name } },
  });
  // Lists of runs have runs alone.
  const runs = await caller.call('GET', `/v2/requests?request_id=${id}`);
  expect(runs.json()['data']).toEqual([]);
});

it('a tool’s refusal is kept as that of the route which the tool calls', async () => {
  const { caller } = await gateway().caller({ balanceMicros: 0 }, ['run', 'catalog', 'requests']);
  const tool = { name: 'run_model', arguments: { model: 'bfl/flux-2-pro', input: { prompt: 'x' } } };
  const answer = await fetch(`${gateway().url}/mcp`, {
    method: 'POST',
    headers: {
      'x-api-key': caller.key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool }),
  });
  await answer.arrayBuffer();
  const [kept] = await waitFor(
    async () => {
      const calls = await listed(caller);
      return calls.length > 0 ? calls : undefined;
    },
    { withinMs: 60_000, what: 'the refused call to be listed' },
  );
  expect(kept).toMatchObject({ status: 402, model: 'bfl/flux-2-pro' });
});

it('a refusal is answered without a statement on the table of refused calls', async () => {
  const { caller } = await gateway().caller({}, ['run', 'requests']);
  const id = await gateway().database.transaction(async ({ query }) => {
    await query('LOCK TABLE refused_call IN ACCESS EXCLUSIVE MODE');
    const refused = await caller.call('POST', submit, { body: '{}' });
    expect(refused.status).toBe(422);
    return callIdOf(refused.headers);
  });
  expect((await foundBy(caller, id)).status).toBe(422);
});

it('an admitted call, a call that joined it, and a failed run are no refusals', async () => {
  const { caller } = await gateway().caller({}, ['run', 'requests']);
  const options = { body: '{"prompt":"x"}', headers: { 'idempotency-key': 'k' } };
  const admitted = await caller.call('POST', submit, options);
  await caller.call('POST', submit, options);
  const run = { requestId: String(admitted.json()['request_id']), model: 'bfl/flux-2-pro', body: '' };
  const fields = [{ loc: ['body', 'prompt'], msg: 'No.', type: 'their_reason' }];
  await gateway().finish(run, {
    outcome: 'failed',
    bucket: 'invalid_input',
    status: 422,
    detail: 'no',
    fields,
    billable: false,
  });
  const { status } = await caller.call('GET', `${submit}/${run.requestId}`);
  expect(status).toBe(422);
  const refused = await caller.call('POST', submit, { body: '{}' });
  await foundBy(caller, callIdOf(refused.headers));
  expect(await listed(caller)).toHaveLength(1);
});
