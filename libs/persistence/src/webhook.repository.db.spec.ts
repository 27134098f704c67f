import type { WebhookForm } from '#schemas';
import { describe, expect, it } from '@jest/globals';
import { ErasureRepository } from './erasure.repository.js';
import { admissionOf, cancelled, failed, succeeded } from './testing/runs.js';
import { openRunFixture } from './testing/run-fixture.js';
import { WebhookRepository } from './webhook.repository.js';

const called = (problem?: string) => ({
  at: '2026-01-02T03:04:05.678Z',
  durationMs: 40,
  ...(problem !== undefined && { problem }),
  payload: '{}',
});

const fixture = await openRunFixture();
const { first } = fixture;
const periods = { RESULT_RETENTION_SECONDS: 86_400 };
const webhooks = new WebhookRepository(first.database, periods);
const receiver = 'https://hooks.example';

/** Admits a run with a webhook. */
async function asking(spaceId: string, form: WebhookForm = 'standard'): Promise<string> {
  const admission = admissionOf(spaceId, { budgetMs: 600_000 });
  await first.admissions.admitRun({
    ...admission,
    call: { ...admission.call, webhook: { url: `${receiver}/a`, receiver, form } },
  });
  return admission.runId;
}

async function ended(form?: WebhookForm, ending = succeeded, spaceId?: string): Promise<string> {
  const runId = await asking(spaceId ?? (await fixture.space()), form);
  const epoch = await first.take(runId, 'running', 60_000);
  await first.finish(runId, epoch, ending);
  return runId;
}

const state = async (runId: string) =>
  (await webhooks.list({ limit: 10_000 })).find((each) => each.runId === runId);

describe('a webhook', () => {
  it('is written with the outcome, which makes it due', async () => {
    const spaceId = await fixture.space();
    const runId = await asking(spaceId);
    const epoch = await first.take(runId, 'running', 60_000);
    expect(await webhooks.begin(runId)).toBeNull();
    const { granted } = await first.finish(runId, epoch, failed('provider_error'));
    expect(granted).toEqual([{ runId, provider: 'tested', queue: 'webhooks' }]);
    expect(await webhooks.begin(runId)).toMatchObject({
      runId,
      workspaceId: spaceId,
      model: 'tested/model',
      origin: 'http://router.example.com',
      bucket: 'provider_error',
      url: `${receiver}/a`,
      receiver,
      form: 'standard',
      tries: 0,
      secrets: [expect.stringMatching(/^whsec_[A-Za-z0-9+/]{42,44}={0,2}$/)],
      output: null,
    });
  });

  it('is written for a run that is cancelled before its dispatch, or withdrawn', async () => {
    const spaceId = await fixture.space();
    const [cancelledId, withdrawnId] = [await asking(spaceId), await asking(spaceId)];
    const answer = await first.runs.requestCancel(spaceId, 'tested/model', cancelledId);
    expect(answer).toMatchObject({ found: 'waiting', granted: [{ runId: cancelledId, queue: 'webhooks' }] });
    await first.heldRuns.releaseRun(withdrawnId, true);
    for (const runId of [cancelledId, withdrawnId])
      expect(await webhooks.begin(runId)).toMatchObject({ bucket: 'client_disconnected' });
  });

  it('is not written if the outcome is not, or if it was not requested', async () => {
    const { runId, epoch } = await fixture.run('running');
    expect(await first.finish(runId, epoch, cancelled)).toMatchObject({ granted: [] });
    expect(await state(runId)).toBeUndefined();
    const asked = await asking(await fixture.space());
    const mine = await first.take(asked, 'running', 60_000);
    expect(await first.finish(asked, mine - 1, succeeded)).toMatchObject({
      won: false,
      granted: [],
    });
    expect(await state(asked)).toBeUndefined();
  });

  it.each(['fal', 'replicate'] as const)(
    'in the format of %s includes the output or the failure',
    async (form) => {
      expect(await webhooks.begin(await ended(form))).toMatchObject({
        bucket: null,
        output: { mediaType: 'application/json', body: Buffer.from('{"done":true}') },
      });
      expect(await webhooks.begin(await ended(form, failed('provider_error')))).toMatchObject({
        status: 502,
        failure: { detail: 'It failed.' },
        output: null,
      });
    },
  );

  it('in fal’s format includes no result that has expired, although its row still exists', async () => {
    const runId = await ended('fal');
    await webhooks.delivered({ runId, redeliveries: 0 }, called());
    const tomorrow = new WebhookRepository(fixture.at('25 hours').database, periods);
    await tomorrow.redeliver(runId);
    expect(await tomorrow.begin(runId)).toMatchObject({ runId, output: null });
    expect((await fixture.written(runId))['run']).not.toBeNull();
  });

  it('is overdue until it has ended, so that a lost job comes back', async () => {
    const runId = await ended();
    expect(await fixture.overdueAt('0 seconds')).not.toContain(runId);
    expect(await fixture.overdueAt('1 second')).toContain(runId);
    await webhooks.begin(runId);
    expect(await fixture.overdueAt('25 seconds')).not.toContain(runId);
    expect(await fixture.overdueAt('31 seconds')).toContain(runId);
    await webhooks.delivered({ runId, redeliveries: 0 }, called());
    expect(await fixture.overdueAt('10 days')).not.toContain(runId);
    expect(await webhooks.begin(runId)).toBeNull();
  });

  it('waits for its pause after a failure, and ends when it is given up; each call counts once', async () => {
    const runId = await ended();
    expect(
      await webhooks.failed({ runId, tries: 0, redeliveries: 0 }, called('answered HTTP 500'), 60_000),
    ).toBe(true);
    expect(
      await webhooks.failed({ runId, tries: 0, redeliveries: 0 }, called('answered HTTP 500'), 60_000),
    ).toBe(false);
    expect(await fixture.overdueAt('55 seconds')).not.toContain(runId);
    expect(await state(runId)).toMatchObject({ state: 'pending', tries: 1, problem: 'answered HTTP 500' });
    expect(
      await webhooks.failed({ runId, tries: 1, redeliveries: 0 }, called('no answer within 10 s'), null),
    ).toBe(true);
    expect(await state(runId)).toMatchObject({ state: 'given_up', tries: 2, dueAt: null });
    expect(await webhooks.redeliver(runId)).toBe(true);
    // A call that began earlier does not count against the redelivery.
    await webhooks.delivered({ runId, redeliveries: 0 }, called());
    expect(
      await webhooks.failed({ runId, tries: 0, redeliveries: 0 }, called('answered HTTP 500'), null),
    ).toBe(false);
    expect(await state(runId)).toMatchObject({ state: 'pending', tries: 0 });
    expect(await webhooks.begin(runId)).toMatchObject({ tries: 0, redeliveries: 1 });
    await webhooks.delivered({ runId, redeliveries: 1 }, called());
    expect(await state(runId)).toMatchObject({ state: 'delivered', tries: 1 });
  });

  it('remembers its newest eight calls and the body that was sent, until the data of its run is deleted', async () => {
    const spaceId = await fixture.space();
    const runId = await ended('standard', succeeded, spaceId);
    for (let tries = 0; tries < 9; tries += 1) {
      const call = { ...called('answered HTTP 500'), status: 500, response: `call ${tries}` };
      await webhooks.failed({ runId, tries, redeliveries: 0 }, call, 1);
    }
    await webhooks.delivered({ runId, redeliveries: 0 }, { ...called(), status: 204 });
    const detail = await webhooks.find(spaceId, runId);
    expect(detail).toMatchObject({ state: 'delivered', payload: '{}' });
    expect(detail?.attempts.map(({ status, response }) => [status, response])).toEqual([
      ...[2, 3, 4, 5, 6, 7, 8].map((nth) => [500, `call ${nth}`]),
      [204, undefined],
    ]);
    expect(await webhooks.find(await fixture.space(), runId)).toBeNull();
    await new ErasureRepository(first.database).eraseRun(spaceId, runId, 'test');
    expect(await webhooks.find(spaceId, runId)).toMatchObject({ attempts: [], payload: null });
  });

  it('of a test is due at once, for ten tests a minute', async () => {
    const spaceId = await fixture.space();
    const test = () => webhooks.test(spaceId, { url: `${receiver}/test`, receiver });
    const id = (await test()) ?? '';
    expect(await webhooks.begin(id)).toMatchObject({ workspaceId: spaceId, event: { test: true }, tries: 0 });
    for (let sent = 1; sent < 10; sent += 1) expect(await test()).not.toBeNull();
    expect(await test()).toBeNull();
    const later = new WebhookRepository(fixture.at('2 minutes').database, periods);
    expect(await later.test(spaceId, { url: `${receiver}/test`, receiver })).not.toBeNull();
  });

  it('waits in its row for a slot of its receiver, and the oldest is taken first', async () => {
    const spaceId = await fixture.space();
    const runIds = [await ended('standard', succeeded, spaceId), await ended('standard', succeeded, spaceId)];
    const other = await ended();
    for (const runId of [...runIds, other]) await webhooks.waitForSlot(runId, true);
    expect(await fixture.overdueAt('595 seconds')).not.toContain(runIds[0]);
    expect(await webhooks.takeWaitingWebhook(spaceId, 'https://else.example')).toBeNull();
    expect(await webhooks.takeWaitingWebhook(spaceId, receiver)).toMatchObject({ runId: runIds[0] });
    expect(await webhooks.takeWaitingWebhook(spaceId, receiver)).toMatchObject({ runId: runIds[1] });
    expect(await webhooks.takeWaitingWebhook(spaceId, receiver)).toBeNull();
  });

  it('is redelivered only for its own workspace', async () => {
    const [spaceId, elsewhere] = [await fixture.space(), await fixture.space()];
    const runId = await ended('standard', succeeded, spaceId);
    expect(await webhooks.redeliver(runId, elsewhere)).toBe(false);
    expect(await webhooks.redeliver(runId, spaceId)).toBe(true);
  });

  it('is deleted with its run, but only after it has ended', async () => {
    const [done, pending] = [await ended(), await ended()];
    await webhooks.delivered({ runId: done, redeliveries: 0 }, called());
    await fixture.at('7 days').retention.deleteOld('webhook');
    expect(await state(done)).toBeDefined();
    await fixture.at('9 days').retention.deleteOld('webhook');
    expect(await state(done)).toBeUndefined();
    expect(await state(pending)).toBeDefined();
  });

  it('is also signed with the previous secret for a day after a rotation', async () => {
    const spaceId = await fixture.space();
    const workspaces = first.workspaces;
    const [before] = (await workspaces.find(spaceId)).webhookSecrets;
    const runId = await ended('standard', succeeded, spaceId);
    const [after] = (await workspaces.rotateWebhookSecret(spaceId)).webhookSecrets;
    expect((await webhooks.begin(runId))?.secrets).toEqual([after, before]);
    const tomorrow = new WebhookRepository(fixture.at('25 hours').database, periods);
    expect((await tomorrow.begin(runId))?.secrets).toEqual([after]);
  });
});
