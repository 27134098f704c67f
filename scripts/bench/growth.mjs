// The cost of existing runs for the next one. In a workspace: 50,000 runs against 1,000, parked, granted a slot but not
// dispatched, or already at their provider. In the database: 1,000,000 finished runs against none. No worker
// runs.
import { setTimeout as pause } from 'node:timers/promises';
import { finishedRuns, newRun } from './finished-runs.mjs';
import { against, answeredInRound, growth, perSecond } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { startService } from './service.mjs';
import { sizeOf } from './size.mjs';

const model = 'bfl/flux-2-pro';
const body = '{"prompt":"a cat"}';
const howMany = sizeOf('FINISHED');
const manyWaiting = sizeOf('WAITING');
const fewWaiting = manyWaiting / 50;
const admission = `SELECT admit(ARRAY[$1::uuid], $2, '', true)`;
const admissionValues = (workspaceId) => [workspaceId, JSON.stringify([newRun()])];

export async function* run() {
  const service = await startService();
  try {
    const gateway = await service.start('gateway');
    yield* afterFinished(service, gateway);
    for (const [state, inflightLimit] of [
      ['parked', 0],
      ['granted', 1_000_000],
      ['dispatched', 1_000_000],
    ]) {
      const few = await line(service, gateway, { state, inflightLimit, waiting: fewWaiting });
      const many = await line(service, gateway, { state, inflightLimit, waiting: manyWaiting });
      await service.client.query('VACUUM ANALYZE');
      const [fewPages, manyPages] = [await pagesOf(service.client, few), await pagesOf(service.client, many)];
      // Measure the status first, because each submission makes the queue longer.
      for (const [what, status] of [
        ['status', 200],
        ['submit', 201],
      ]) {
        const result = await against(
          () => perSecond(gateway.url, few[what], { status }),
          () => perSecond(gateway.url, many[what], { status }),
        );
        yield {
          ...growth(`${what} behind ${manyWaiting} ${state} runs against ${fewWaiting}`, result, 1.2),
          more: [`pages touched by it: ${manyPages[what]}, ${fewPages[what]}`],
        };
      }
    }
  } finally {
    await service.stop();
  }
}

/** A workspace with `waiting` runs, and the requests of the run behind them. */
async function line(service, gateway, { state, inflightLimit, waiting }) {
  const { workspaceId, key } = await service.customer(`${state}-${waiting}`, { inflightLimit });
  // Submit whole batches, so that every row is written by admission itself.
  for (let left = waiting; left > 0; left -= 250) {
    await service.client.query(`SELECT admit(array_fill($1::uuid, ARRAY[250]), $2, '', true)`, [
      workspaceId,
      JSON.stringify(Array.from({ length: 250 }, newRun)),
    ]);
  }
  await service.client.query(`UPDATE outbox SET due_at = 'infinity' WHERE workspace_id = $1`, [workspaceId]);
  if (state === 'dispatched') {
    await service.client.query(`UPDATE run SET stage = 'running' WHERE workspace_id = $1`, [workspaceId]);
    await service.client.query(
      `UPDATE outbox SET queue = 'poll', dispatched = true WHERE workspace_id = $1`,
      [workspaceId],
    );
  }
  // A count of a long line holds for a second.
  await pause(1100);
  const { id, submit, status, position } = await submitted(gateway, key);
  // Granted runs are counted up to a thousand.
  const expected = { parked: waiting, granted: Math.min(waiting, 1000), dispatched: 0 }[state];
  if (position !== expected) throw new Error(`the last of ${waiting} ${state} runs is at ${position}`);
  return { submit, status, workspaceId, id };
}

/** Database pages that the two requests touch. */
const pagesOf = async (client, { workspaceId, id }) => ({
  submit: await buffersOf(client, admission, admissionValues(workspaceId)),
  status: await buffersOf(
    client,
    'SELECT waiting_ahead($1, place) FROM outbox WHERE workspace_id = $1 AND run_id = $2',
    [workspaceId, id],
  ),
});

async function submitted(gateway, key) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const submit = { path: `/v2/models/${model}/requests`, method: 'POST', headers, body };
  const answer = await fetch(`${gateway.url}${submit.path}`, submit);
  const { request_id: id, queue_position: position } = await answer.json();
  return { id, position, submit, status: { path: `${submit.path}/${id}/status`, headers } };
}

/** The same requests before and after, compared by their cost, since the two states cannot take turns. */
async function* afterFinished(service, gateway) {
  const { workspaceId, key } = await service.customer('finished');
  const requests = await submitted(gateway, key);
  const pids = await processesOf(service, { gateway });
  const before = await costs(service, gateway, pids, { ...requests, workspaceId });
  const sizes = await finishedRuns(service.client, requests.id, howMany);
  // Neither the runs submitted for the first measurement, which would be counted, nor leftover background work
  // may burden the next run.
  await service.client.query('UPDATE outbox SET dispatched = true');
  await service.client.query('VACUUM ANALYZE');
  await service.client.query('CHECKPOINT');
  const next = await submitted(gateway, key);
  const after = await costs(service, gateway, pids, { ...next, workspaceId });
  for (const what of ['status', 'submit']) {
    const ratio = after[what].totalMs / before[what].totalMs;
    yield {
      what: `CPU of a ${what} after ${howMany} finished runs, against none`,
      measured: `${ratio.toFixed(2)} times (${after[what].totalMs.toFixed(2)} / ${before[what].totalMs.toFixed(2)} ms)`,
      aim: '≤ 1.2 times',
      reached: ratio <= 1.2,
      more: [
        `none: ${costText(before[what])}; ${before[what].buffers} buffers`,
        `after: ${costText(after[what])}; ${after[what].buffers} buffers`,
        ...(what === 'submit' ? sizes : []),
      ],
    };
  }
}

async function costs(service, gateway, pids, { id, workspaceId, submit, status }) {
  const found = {};
  for (const [what, request, code] of [
    ['status', status, 200],
    ['submit', submit, 201],
  ]) {
    const times = () => answeredInRound(gateway.url, request, { status: code });
    await times();
    found[what] = await metered(service, pids, times);
  }
  found.submit.buffers = await buffersOf(service.client, admission, admissionValues(workspaceId));
  found.status.buffers = await buffersOf(service.client, 'SELECT * FROM run WHERE id = $1', [id]);
  return found;
}

/** Pages that a statement touches once its session has planned it. */
async function buffersOf(client, statement, values) {
  let pages = 0;
  for (let tries = 0; tries < 8; tries += 1) {
    await client.query('BEGIN');
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`, values);
    await client.query('ROLLBACK');
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }
  return pages;
}
