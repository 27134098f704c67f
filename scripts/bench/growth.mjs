// What a workspace's waiting runs cost its next one: with 50,000 against 1,000 of them, parked, or granted a slot and not
// yet dispatched. No worker runs.
import { v7 } from 'uuid';
import { against, growth, perSecond } from './load.mjs';
import { hasRedis, startService } from './service.mjs';

const model = 'bfl/flux-2-pro';
const body = '{"prompt":"a cat"}';

export async function* run() {
  const service = await startService({ transport: hasRedis() ? 'redis' : 'postgres' });
  try {
    const gateway = await service.start('gateway');
    for (const [state, inflightLimit] of [
      ['parked', 0],
      ['granted', 1_000_000],
    ]) {
      const few = await line(service, gateway, { state, inflightLimit, waiting: 1000 });
      const many = await line(service, gateway, { state, inflightLimit, waiting: 50_000 });
      await service.client.query('VACUUM ANALYZE');
      // The status first: each submit makes the line longer.
      for (const [what, status] of [
        ['status', 200],
        ['submit', 201],
      ]) {
        const result = await against(
          () => perSecond(gateway.url, few[what], { status }),
          () => perSecond(gateway.url, many[what], { status }),
        );
        yield growth(`${what} behind 50,000 ${state} runs against 1,000`, result, 1.2);
      }
    }
  } finally {
    await service.stop();
  }
}

/** A workspace with so many runs that wait, and the requests of the one behind them. */
async function line(service, gateway, { state, inflightLimit, waiting }) {
  const { workspaceId, key } = await service.customer(`${state}-${waiting}`, { inflightLimit });
  // One whole batch at a time: what a run's admission writes comes from the admission itself.
  for (let left = waiting; left > 0; left -= 250) {
    await service.client.query(`SELECT admit($1, $2, array_fill(''::bytea, ARRAY[250]), true)`, [
      workspaceId,
      JSON.stringify(Array.from({ length: 250 }, newRun)),
    ]);
  }
  await service.client.query(`UPDATE outbox SET due_at = 'infinity' WHERE workspace_id = $1`, [workspaceId]);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const submit = { path: `/v2/models/${model}/requests`, method: 'POST', headers, body };
  const answer = await fetch(`${gateway.url}${submit.path}`, submit);
  const handle = await answer.json();
  const { request_id: id, queue_position: position } = handle;
  // Granted runs are counted up to a thousand.
  if (position !== (state === 'parked' ? waiting : 1000))
    throw new Error(`the last of ${waiting} ${state} runs gets ${JSON.stringify(handle)}`);
  return { submit, status: { path: `${submit.path}/${id}/status`, headers } };
}

const newRun = () => ({
  runId: v7(),
  model: 'bench/none',
  provider: 'bench',
  mode: 'queued',
  facts: {},
  reservedMicros: 1000,
  computedMicros: 1000,
  credential: 'bench',
  call: {},
});
