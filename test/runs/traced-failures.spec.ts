import type { OperatorRunDetail } from '#schemas';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { answerOf } from '../admin/run-admin.js';
import { failOnLeftovers, sharedSystem, type TestCaller, transports, waitFor } from '../harness/index.js';

const model = 'bfl/flux-2-pro';

/** Failures: the simulator's tag, the caller's answer, and the last attempt of the run. */
const failures: [string, string, [number, string | undefined], Record<string, unknown>][] = [
  [
    'a server error',
    '500_submit',
    [502, 'provider_error'],
    { phase: 'submit', status: 500, reading: 'The provider failed (submit answered HTTP 500).' },
  ],
  [
    'a rejected key',
    '401',
    [502, 'provider_error'],
    {
      phase: 'submit',
      status: 403,
      class: 'provider_account',
      reading: expect.stringContaining('rejected our key'),
    },
  ],
  [
    'no balance',
    '402',
    [502, 'provider_error'],
    { phase: 'submit', status: 402, class: 'provider_account', reply: expect.stringContaining('credits') },
  ],
  [
    'a refused prompt',
    'policy_submit',
    [400, 'content_policy_violation'],
    { phase: 'poll', class: 'content_policy', reply: expect.stringContaining('Moderated') },
  ],
  [
    'a refused result',
    'policy_output',
    [400, 'content_policy_violation'],
    { phase: 'poll', status: 200, class: 'content_policy' },
  ],
  [
    'a failed job',
    'job_failed',
    [502, 'provider_error'],
    { phase: 'poll', status: 200, class: 'provider_failed', reply: expect.stringContaining('Error') },
  ],
  [
    'a connection that breaks after the provider accepted the run',
    'reset_after_accept',
    [502, 'provider_error'],
    { phase: 'submit', class: 'provider_failed', reading: expect.stringContaining('got no answer: reset') },
  ],
  [
    'a reply that is not JSON',
    'garbage',
    [502, 'provider_error'],
    { phase: 'submit', status: 200, class: 'unreadable' },
  ],
  [
    'a job that the provider has forgotten',
    'poll_404',
    [502, 'provider_error'],
    { phase: 'poll', status: 404 },
  ],
  [
    'a file that cannot be copied',
    'asset_404',
    [200, undefined],
    { phase: 'asset', status: 404, reading: expect.stringContaining('answered HTTP 404') },
  ],
];

describe.each(transports().slice(0, 1))('from the id of a call to the cause on %s', (transport) => {
  const system = sharedSystem(transport);
  let caller: TestCaller;
  let operator: TestCaller;
  beforeAll(async () => {
    caller = await system.caller();
    operator = await system.caller({}, undefined, ['operate']);
  });
  failOnLeftovers();

  it.concurrent.each(failures)(
    '%s is shown by one command and on one page',
    async (_what, tag, outcome, cause) => {
      const body = JSON.stringify({ prompt: `[[sim:${tag}]]` });
      const answer = await caller.call('POST', `/v2/models/${model}`, { body });
      expect([answer.status, answer.bucket]).toEqual(outcome);
      const callId = answer.headers.get('x-service-request-id') ?? '';
      const shown = await waitFor(
        async () => {
          const run = await answerOf<OperatorRunDetail>(system.env(), 'run', 'show', callId);
          return run.provider_attempts.length > 0 && run;
        },
        { withinMs: 20_000, what: 'the attempts to be written', everyMs: 100 },
      );
      expect(shown).toMatchObject({ call_id: callId, model, provider: 'bfl' });
      expect(shown.provider_attempts.at(-1)).toMatchObject(cause);
      // This answer fills the console's page of the run.
      const page = await operator.call('GET', `/v2/operator/runs/${callId}`);
      expect(shown).toMatchObject(page.json());
    },
  );
});
