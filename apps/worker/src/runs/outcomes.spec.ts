import { beforeEach, describe, expect, it } from '@jest/globals';
import { RouterError } from '#errors';
import { createLog, Metrics } from '#observability';
import type {
  ClaimedRun,
  DispatchRepository,
  Ending,
  LiveRun,
  ProviderPauseRepository,
  RunRepository,
} from '#persistence';
import type { RunQueues, RunSignals } from '#queue';
import type { Payloads } from '../bytes/payloads.js';
import { HeldOutcomes } from './held-outcomes.js';
import { Outcomes } from './outcomes.js';

const log = createLog('worker', 'silent');
const run = {
  runId: 'run',
  epoch: 1,
  workspaceId: 'workspace',
  provider: 'fal',
  model: 'fal/flux-dev',
  facts: { chargesOnPolicyRejection: 'no', assets: [] } as unknown as LiveRun['facts'],
};
const fields = [{ loc: ['body', 'prompt'], msg: 'unwritable', type: 'value_error' }];
const rejected = { class: 'rejected_input' as const, retry: 'never' as const };

/** Outcomes whose database calls `write` with each ending. */
const outcomesThat = (write: (ending: Ending) => void) =>
  new Outcomes(
    {
      finishRun: async (_run: ClaimedRun, ending: Ending) => {
        write(ending);
        return { won: false, granted: [] };
      },
    } as unknown as RunRepository,
    {} as DispatchRepository,
    {} as Payloads,
    { passOn: async () => {} } as unknown as RunQueues,
    {} as RunSignals,
    {} as ProviderPauseRepository,
    new Metrics(),
    new HeldOutcomes(new Metrics()),
    { PROVIDER_MAX_PAUSE_MS: 1000 },
    log,
  );

describe('a failed run is billed', () => {
  const broken = { class: 'provider_failed', retry: 'never' } as const;
  const refused = { class: 'content_policy', retry: 'never' } as const;
  const charging = { ...run, facts: { ...run.facts, chargesOnPolicyRejection: 'yes' as const } };

  it.each([
    ['not if nothing arrived', run, broken, false],
    ['for the part of its stream that arrived', { ...run, arrivedMicros: 5 }, broken, true],
    ['for the usage that its stream reported', { ...run, arrivedMicros: 0, reportedMicros: 5 }, broken, true],
    ['not if its stream reported no usage', { ...run, arrivedMicros: 5, reportedMicros: 0 }, broken, false],
    ['if the provider charges for what it refuses', charging, refused, true],
    ['not if the provider refuses for free', run, refused, false],
    ['not for another failure of a provider that charges for refusals', charging, broken, false],
  ])('%s', async (_when, ongoing, failure, billable) => {
    const written: Ending[] = [];
    await outcomesThat((ending) => written.push(ending)).failRun(ongoing, failure);
    expect(written).toMatchObject([{ outcome: 'failed', billable }]);
  });
});

describe('a failure with a provider’s own error fields', () => {
  let written: Ending[];
  beforeEach(() => {
    written = [];
  });

  /** The database fails with the error while an ending contains the provider's fields. */
  const outcomes = (error: Error) =>
    outcomesThat((ending) => {
      written.push(ending);
      if (JSON.stringify(ending).includes('unwritable')) throw error;
    });

  it('is written without them if the database rejects them', async () => {
    await outcomes(new Error('refused')).failRun(run, { ...rejected, fields });
    expect(written).toMatchObject([
      { bucket: 'invalid_input', status: 422, fields },
      { bucket: 'invalid_input', status: 422, fields: [{ loc: ['body'], type: 'bad_request' }] },
    ]);
  });

  it('keeps them while the database is down, because it comes back', async () => {
    const away = new RouterError('service_unavailable', 'away');
    await expect(outcomes(away).failRun(run, { ...rejected, fields })).rejects.toBe(away);
    expect(written).toHaveLength(1);
  });
});
