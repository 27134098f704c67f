import { ApiKeyRepository, type Ending } from '#persistence';
import type { RouterRequest, Page } from '#schemas';
import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests'];
const model = 'bfl/flux-2-pro';
const input = '{"prompt":"x"}';

const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{"ok":true}'),
};
const failed: Ending = {
  outcome: 'failed',
  bucket: 'provider_error',
  status: 502,
  detail: 'no',
  billable: false,
};

async function page(caller: Caller, query = ''): Promise<Page<RouterRequest>> {
  const answer = await caller.call('GET', `/v2/requests${query}`);
  expect(answer.status).toBe(200);
  return answer.json() as Page<RouterRequest>;
}

const idsOf = ({ data }: Page<RouterRequest>) => data.map(({ request_id }) => request_id);

it('shows what is known of each run, newest first', async () => {
  const { caller, keyId } = await gateway().caller({}, scopes);
  const done = await caller.submit(model, input);
  await gateway().finish(done, succeeded);
  const broken = await caller.submit(model, input);
  await gateway().finish(broken, failed);
  const running = await caller.submit(model, input);
  await gateway().dispatch(running);
  const waiting = await caller.submit(model, input);
  const { data, has_more, limit } = await page(caller);
  expect([has_more, limit]).toEqual([false, 20]);
  const urls = (id: string) => {
    const url = `${gateway().url}/v2/models/${model}/requests/${id}`;
    return { status_url: `${url}/status`, response_url: url, cancel_url: `${url}/cancel` };
  };
  const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
  const admitted = (requestId: string) => ({
    request_id: requestId,
    model,
    key_id: keyId,
    key_name: 'test',
    created_at: time,
    granted_at: time,
    reserved_cents: expect.any(Number),
    result_available: false,
    ...urls(requestId),
  });
  const ended = {
    status: 'COMPLETED',
    started_at: time,
    completed_at: time,
    expires_at: time,
    duration_ms: expect.any(Number),
    result_available: true,
  };
  const reserved = data[0]?.reserved_cents;
  expect(reserved).toBeGreaterThan(0);
  expect(data).toEqual([
    { ...admitted(waiting.requestId), status: 'IN_QUEUE' },
    { ...admitted(running.requestId), status: 'IN_PROGRESS', started_at: time },
    {
      ...admitted(broken.requestId),
      ...ended,
      outcome: 'failed',
      error_type: 'provider_error',
      cost_cents: 0,
    },
    {
      ...admitted(done.requestId),
      ...ended,
      outcome: 'succeeded',
      cost_cents: expect.any(Number),
      cost_basis: expect.any(String),
    },
  ]);
});

it('pages contain every run once, while runs end and new ones arrive', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const runs = [];
  for (let count = 0; count < 5; count += 1) runs.push(await caller.submit(model, input));
  const [oldest] = runs;
  const newestFirst = runs.map(({ requestId }) => requestId).toReversed();
  const first = await page(caller, '?limit=2');
  if (oldest) await gateway().finish(oldest, succeeded);
  await caller.submit(model, input);
  const second = await page(caller, `?limit=2&cursor=${encodeURIComponent(first.next_cursor ?? '')}`);
  const third = await page(caller, `?limit=2&cursor=${encodeURIComponent(second.next_cursor ?? '')}`);
  expect([first, second, third].flatMap(idsOf)).toEqual(newestFirst);
  expect([first, second, third].map(({ has_more }) => has_more)).toEqual([true, true, false]);
  expect(third.next_cursor).toBeUndefined();
});

it('every filter works, alone and combined', async () => {
  const { caller, workspace, keyId } = await gateway().caller({}, scopes);
  const other = await new ApiKeyRepository(gateway().database).create(
    workspace.id,
    {
      name: 'other',
      scopes,
      expiresAt: null,
    },
    { actor: 'test' },
  );
  const broken = await caller.submit(model, input);
  await gateway().finish(broken, failed);
  const waiting = await caller.submit('bfl/flux-2-flex', input);
  const byOther = await new Caller(() => [gateway().url], other.key).submit(model, input);
  await gateway().dispatch(byOther);
  const found = async (query: string) => idsOf(await page(caller, `?${query}`));
  expect(await found(`model=${model}`)).toEqual([byOther.requestId, broken.requestId]);
  expect(await found('status=IN_QUEUE')).toEqual([waiting.requestId]);
  expect(await found('status=IN_PROGRESS')).toEqual([byOther.requestId]);
  expect(await found('status=COMPLETED')).toEqual([broken.requestId]);
  expect(await found('error_type=provider_error')).toEqual([broken.requestId]);
  expect(await found('outcome=failed')).toEqual([broken.requestId]);
  expect(await found('outcome=succeeded')).toEqual([]);
  expect(await found(`key=${other.row.id}`)).toEqual([byOther.requestId]);
  expect(await found(`key=${other.row.id.toUpperCase()}`)).toEqual([byOther.requestId]);
  expect(await found(`key=${keyId}&status=IN_QUEUE`)).toEqual([waiting.requestId]);
  expect(await found(`request_id=${broken.requestId}`)).toEqual([broken.requestId]);
  const [{ created_at: at } = { created_at: '' }] = (await page(caller, `?request_id=${waiting.requestId}`))
    .data;
  expect(await found(`from=${at}`)).toEqual([byOther.requestId, waiting.requestId]);
  expect(await found(`to=${at}`)).toEqual([broken.requestId]);
  expect(await found(`from=${at}&model=none/none`)).toEqual([]);
});

it('runs are found by a tag and by their end user, while they are live and after they end', async () => {
  const { caller, keyWith } = await gateway().caller({}, scopes);
  const byKey = await keyWith({ project: 'alpha' }, scopes);
  const headers = { 'x-service-tags': 'project=alpha, team=a=b', 'x-service-user': 'u,1' };
  const ended = await caller.submit(model, input, { headers });
  await gateway().finish(ended, succeeded);
  const live = await caller.submit(model, input, { headers: { 'x-service-tags': 'team=c' } });
  const fixed = await byKey.submit(model, input, { headers: { 'x-service-user': 'u,1' } });
  await caller.submit(model, input);
  const found = async (query: string) => idsOf(await page(caller, `?${query}`));
  expect(await found('tag=project=alpha')).toEqual([fixed.requestId, ended.requestId]);
  expect(await found(`tag=${encodeURIComponent('team=a=b')}`)).toEqual([ended.requestId]);
  expect(await found('tag=team=c')).toEqual([live.requestId]);
  expect(await found('user=u,1')).toEqual([fixed.requestId, ended.requestId]);
  expect(await found('user=u,1&tag=team=c')).toEqual([]);
  expect(await found('user=u,1&tag=project=alpha&status=COMPLETED')).toEqual([ended.requestId]);
  expect(await found('tag=project=alph')).toEqual([]);
  const { data } = await page(caller);
  expect(data.map(({ tags, user }) => [tags, user])).toEqual([
    [undefined, undefined],
    [{ project: 'alpha' }, 'u,1'],
    [{ team: 'c' }, undefined],
    [{ project: 'alpha', team: 'a=b' }, 'u,1'],
  ]);
  const stranger = await gateway().caller({}, scopes);
  expect((await page(stranger.caller, '?tag=project=alpha')).data).toEqual([]);
});

it('lists a run whose result has expired, without URLs, and nothing of another workspace', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const run = await caller.submit(model, input);
  await gateway().finish(run, succeeded, { ago: '25 hours' });
  const { data } = await page(caller);
  expect(data).toMatchObject([{ request_id: run.requestId, status: 'COMPLETED', result_available: false }]);
  expect(Object.keys(data[0] as RouterRequest).filter((name) => name.endsWith('_url'))).toEqual([]);
  const stranger = await gateway().caller({}, scopes);
  expect(await page(stranger.caller)).toEqual({ data: [], has_more: false, limit: 20 });
  expect((await page(stranger.caller, `?request_id=${run.requestId}`)).data).toEqual([]);
});
