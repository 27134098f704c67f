import { expect, it } from '@jest/globals';
import type { Workspace } from '#persistence';
import type { Submitted } from '../../harness/caller.js';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';
import { openai } from './vendor-calls.js';

const gateway = sharedGateway();
const { path, body } = openai.call(openai.model);

const send = (key: string, headers: Record<string, string>) =>
  fetch(`${gateway().url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...openai.credential(key), ...headers },
    body,
    signal: AbortSignal.timeout(30_000),
  });

const liveRun = (workspace: Workspace) =>
  waitFor(
    async () => {
      const statement = `SELECT id AS "requestId", model, '' AS body FROM run WHERE workspace_id = $1 AND outcome IS NULL`;
      return (await gateway().database.reads.query<Submitted>(statement, [workspace.id]))[0];
    },
    { withinMs: 60_000, what: 'another run to be admitted' },
  );

/** The number that SDKs give to an attempt. Frameworks that repeat a call themselves leave it at zero. */
const numbered = (attempt: number) => ({ 'x-stainless-retry-count': String(attempt) });

it.each([
  ['joins the failed run', 500, 'internal_error', {}, {}],
  ['joins the failed run', 502, 'provider_error', {}, {}],
  ['joins the failed run', 502, 'provider_error', numbered(0), numbered(0)],
  ['is another run', 502, 'provider_error', numbered(0), numbered(1)],
  ['joins the failed run', 400, 'content_policy_violation', {}, {}],
  ['is another run', 503, 'service_unavailable', {}, {}],
] as const)(
  'an equal call without a key %s after its %i %s: %j, %j',
  async (what, status, bucket, first, second) => {
    const { caller, workspace } = await gateway().caller();
    const ending = { outcome: 'failed', bucket, status, detail: 'It failed.', billable: false } as const;
    const answering = send(caller.key, first);
    const run = await gateway().admittedRun(workspace);
    await gateway().finish(run, ending);
    const answer = await answering;
    await answer.text();
    expect(answer.status).toBe(status);
    await waitFor(
      async () => {
        const statement = 'SELECT held_by FROM unkeyed_call WHERE run_id = $1 AND held_by IS NOT NULL';
        return (await gateway().database.reads.query(statement, [run.requestId])).length === 0;
      },
      { withinMs: 60_000, what: 'the delivery to be recorded' },
    );

    const repeating = send(caller.key, second);
    if (what === 'is another run') await gateway().finish(await liveRun(workspace), ending);
    const repeated = await repeating;
    await repeated.text();
    expect(repeated.status).toBe(status);
    expect(repeated.headers.get('x-service-run-id') === run.requestId).toBe(what === 'joins the failed run');
  },
);
