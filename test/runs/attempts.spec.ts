import type { OperatorRunDetail } from '#schemas';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Lab } from '../catalog/lab.js';
import { polled, provider, row } from '../catalog/own-rows.js';
import {
  failOnLeftovers,
  sharedSystem,
  type Submitted,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';

const model = 'bfl/flux-2-pro';
const key = 'key-of-the-traced';
const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);

/** One is enough: surprises and attempts are in the database alone. */
const [transport = 'postgres'] = transports();

describe('an operator sees why a provider call failed', () => {
  const system = sharedSystem(transport);
  let upstream: Lab;
  let caller: TestCaller;
  let operator: TestCaller;

  beforeAll(async () => {
    upstream = await Lab.start();
    system.giveKey('traced', `${key}\n`);
    await system.serve({
      'traced.yaml': provider('traced', upstream.url, polled),
      'traced-refuse.yaml': row('traced/refuse', 'refuse/it', 1_000),
      'traced-paint.yaml': row('traced/paint', 'v1/paint', 1_000),
    });
    caller = await system.caller();
    operator = await system.caller({}, undefined, ['operate']);
  });
  afterAll(() => upstream.stop());
  failOnLeftovers();

  const detail = async (id: string) => {
    const answer = await operator.call('GET', `/v2/operator/runs/${id}`);
    expect(answer.status).toBe(200);
    return answer.json() as OperatorRunDetail;
  };
  /** The run with its attempts, once all are written. */
  const attempted = ({ requestId }: Submitted, count = 1) =>
    waitFor(
      async () => {
        const run = await detail(requestId);
        return run.provider_attempts.length >= count && run;
      },
      { withinMs: 20_000, what: 'the attempts to be written', everyMs: 100 },
    );
  const ended = async (prompt: string, of = model, by = caller) => {
    const run = await by.submit(of, JSON.stringify({ prompt }));
    await by.completed(run);
    return { run, result: await by.collect(run) };
  };

  it.concurrent('a 500 at the submission', async () => {
    const { run, result } = await ended('[[sim:500_submit]]');
    expect([result.status, result.bucket]).toEqual([502, 'provider_error']);
    expect(await attempted(run)).toMatchObject({
      request_id: run.requestId,
      workspace: { id: caller.workspaceId },
      provider: 'bfl',
      error_type: 'provider_error',
      error_detail: result.json()['detail'],
      attempts: 1,
      crashes: 0,
      pauses: [],
      provider_attempts_left_out: 0,
      provider_attempts: [
        {
          at: time,
          count: 1,
          provider: 'bfl',
          phase: 'submit',
          status: 500,
          class: 'provider_failed',
          retry: 'never',
          reading: 'The provider failed (submit answered HTTP 500).',
          reply: expect.stringContaining('{'),
        },
      ],
    });
  });

  it.concurrent('a submission that the provider accepts the second time', async () => {
    const { run, result } = await ended('[[sim:429=1]]');
    expect(result.status).toBe(200);
    const { provider_attempts: attempts, handle, attempts: submissions } = await attempted(run);
    expect(attempts).toMatchObject([{ phase: 'submit', status: 429, retry: 'new_submit' }]);
    expect([submissions, handle?.['step']]).toEqual([2, 'poll']);
  });

  it.concurrent('a rejected key', async () => {
    const { run, result } = await ended('[[sim:401]]');
    expect([result.status, result.bucket]).toEqual([502, 'provider_error']);
    expect((await attempted(run)).provider_attempts).toMatchObject([
      {
        phase: 'submit',
        status: 403,
        class: 'provider_account',
        retry: 'never',
        reading: expect.stringContaining('rejected our key or account'),
      },
    ]);
  });

  it.concurrent('a failed job, and polls that failed before', async () => {
    const { run, result } = await ended('[[sim:job_failed]] [[sim:poll_500=3]]');
    expect([result.status, result.bucket]).toEqual([502, 'provider_error']);
    const { provider_attempts: attempts } = await attempted(run, 2);
    expect(attempts).toMatchObject([
      { phase: 'poll', status: 500, class: 'provider_failed', retry: 'same_call', count: 3, last_at: time },
      { phase: 'poll', status: 200, class: 'provider_failed', retry: 'never', count: 1 },
    ]);
  });

  it.concurrent('a poll that times out', async () => {
    // In a workspace of its own, because other cases run meanwhile.
    const patient = await system.caller();
    const hanging = new Promise<void>(() => {});
    upstream.duringPoll = async () => {
      await system.sql(
        `UPDATE run SET deadline_at = router_now() + interval '5 seconds' WHERE workspace_id = $1 AND stage = 'running'`,
        [patient.workspaceId],
      );
      upstream.duringPoll = () => hanging;
    };
    const { run, result } = await ended('slow', 'traced/paint', patient);
    expect([result.status, result.bucket]).toEqual([504, 'provider_timeout']);
    const { provider_attempts: attempts } = await attempted(run, 2);
    expect(attempts).toMatchObject([
      { phase: 'poll', class: 'provider_timeout', retry: 'same_call' },
      {
        phase: 'poll',
        class: 'provider_timeout',
        retry: 'never',
        reading: 'The time budget ended before the provider finished the run.',
      },
    ]);
    expect(attempts[0]).not.toHaveProperty('status');
  });

  it.concurrent('an asset that cannot be fetched', async () => {
    const { run, result } = await ended('[[sim:asset_404]]');
    expect(result.status).toBe(200);
    expect((await attempted(run)).provider_attempts).toMatchObject([
      {
        phase: 'asset',
        status: 404,
        class: 'status',
        reading: 'The result keeps the provider’s URL of an asset, which answered HTTP 404.',
      },
    ]);
  });

  it.concurrent('a cancellation that comes too late', async () => {
    const run = await caller.submit(
      'fal/flux-dev',
      '{"prompt":"[[sim:takes=2000]] [[sim:cancel_too_late]]"}',
    );
    const running = async () => (await caller.status(run)).json()['status'] === 'IN_PROGRESS';
    await waitFor(running, { withinMs: 20_000, what: 'the run to start' });
    await caller.cancel(run);
    await caller.completed(run);
    expect((await attempted(run)).provider_attempts).toMatchObject([{ phase: 'cancel', class: 'too_late' }]);
  });

  it.concurrent('without the prompt that the reply quotes', async () => {
    const prompt = Array.from({ length: 40 }, (_, nth) => `word${nth * 31}`)
      .join(' ')
      .slice(0, 300);
    const { run, result } = await ended(prompt, 'traced/refuse');
    expect(result.status).toBe(422);
    const [attempt] = (await attempted(run)).provider_attempts;
    expect(attempt).toMatchObject({ phase: 'submit', status: 422, class: 'rejected_input' });
    const { reply = '' } = attempt ?? {};
    expect(reply).toContain('"msg":"Not this."');
    expect(reply).toContain(prompt.slice(0, 100));
    expect(reply).toContain('characters of the input]');
    expect(reply).not.toContain(prompt.slice(0, 201));
  });

  it.concurrent('by the id of the call that admitted the run', async () => {
    const answer = await caller.call('POST', `/v2/models/${model}`, { body: '{"prompt":"[[sim:402]]"}' });
    const callId = answer.headers.get('x-service-request-id') ?? '';
    const run = { requestId: callId, model, body: '' };
    const found = await attempted(run);
    expect(found).toMatchObject({
      request_id: answer.headers.get('x-service-run-id'),
      call_id: callId,
      provider_attempts: [{ status: 402, class: 'provider_account' }],
    });
  });

  it.concurrent('and callers do not', async () => {
    const { run } = await ended('[[sim:500_submit]] unseen');
    await attempted(run);
    const own = await caller.call('GET', `/v2/operator/runs/${run.requestId}`);
    expect(own.status).toBe(403);
    const { bytes } = await caller.status(run);
    expect(bytes.toString()).not.toMatch(/provider_attempts|submit answered/);
  });

  it.concurrent('a run whose calls all succeed leaves no row', async () => {
    const { run } = await ended('fine');
    const failing = await ended('[[sim:500_submit]] after it');
    await attempted(failing.run);
    expect(await system.sql('SELECT FROM run_attempts WHERE run_id = $1', [run.requestId])).toEqual([]);
  });
});
