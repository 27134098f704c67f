import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Bucket } from '#errors';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import {
  unending,
  type Answer,
  failOnLeftovers,
  tcpProxy,
  type TcpProxy,
  temporaryFolder,
  transports,
  waitFor,
} from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

/** An operator's row whose provider has two seconds for a run. */
const hastyRow =
  'id: bfl/hasty\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: no\nprice: { usd: 0.01 }\nbudget_seconds: 2\n';

const model = '/v2/models/bfl/flux-2-pro';
const hasty = '/v2/models/bfl/hasty';
const prompt = (text: string) => JSON.stringify({ prompt: text });

/**
 * Expects the status, header and body of one bucket: the same bucket in header and body, and no other members.
 */
function expectBucket(answer: Answer, status: number, bucket: Bucket, detail: RegExp): void {
  expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([status, bucket]);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(answer.json()).toEqual({ detail: expect.stringMatching(detail), error_type: bucket });
}

describe.each(transports().slice(0, 1))(
  'each bucket that a provider or an outage causes, on %s',
  (transport) => {
    let system: System;
    let caller: TestCaller;
    /** Holds calls for one second; its connection to Postgres can be cut. */
    let shortDeadline: App;
    let toPostgres: TcpProxy;

    beforeAll(async () => {
      const directory = temporaryFolder('catalog');
      writeFileSync(path.join(directory, 'hasty.yaml'), hastyRow);
      system = await System.start({
        transport,
        // Short pauses, so that a provider that rejects one run for long delays no other, and the last poll of a
        // run is short.
        env: {
          CATALOG_DIR: directory,
          PROVIDER_MAX_PAUSE_MS: '10',
          PROVIDER_POLL_TIMEOUT_MS: '1000',
        },
      });
      caller = await system.caller();
      const url = new URL(system.database.url);
      toPostgres = await tcpProxy({ port: Number(url.port), host: url.hostname });
      url.host = toPostgres.address;
      shortDeadline = await system.startGateway({
        DATABASE_URL: url.href,
        SYNC_DEADLINE_MS: '1000',
        AUTH_CACHE_MS: '1',
      });
      system.forget(shortDeadline);
    });
    afterAll(async () => {
      toPostgres.set('pass');
      await system.stop();
      await toPostgres.close();
    });

    const run = (route: string, text: string, by: TestCaller = caller) =>
      by.call('POST', route, { body: prompt(text) });

    it('content_policy_violation: the provider rejects the content', async () => {
      expectBucket(await run(model, '[[sim:policy_output]]'), 400, 'content_policy_violation', /./);
    });

    it('provider_error: the run fails at the provider, and the provider’s text stays inside', async () => {
      expectBucket(await run(model, '[[sim:job_failed]]'), 502, 'provider_error', /provider/i);
    });

    it('provider_error: the provider refuses our account, which the caller never learns', async () => {
      for (const refusal of ['401', '402']) {
        const answer = await run(model, `[[sim:${refusal}]]`);
        expectBucket(answer, 502, 'provider_error', /^(?!.*(key|account|balance|credit|payment)).*$/i);
      }
    });

    it('provider_timeout: the provider does not answer within its budget', async () => {
      const started = performance.now();
      expectBucket(await run(hasty, '[[sim:hang_poll]]'), 504, 'provider_timeout', /./);
      expect(performance.now() - started).toBeGreaterThan(1_900);
    });

    it('service_unavailable: the provider rejects the run until its time budget ends', async () => {
      const refused = await system.caller();
      const answering = run(model, '[[sim:429]]', refused);
      const ofRun = `WHERE workspace_id = $1`;
      const refusals = async () => {
        const [found] = await system.sql<{ id: string }>(`SELECT id FROM run ${ofRun}`, [
          refused.workspaceId,
        ]);
        const lines = system.workers.flatMap((worker) => worker.logs().split('\n'));
        return lines.filter((line) => line.includes('retrying') && line.includes(found?.id ?? '-')).length;
      };
      await waitFor(async () => (await refusals()) > 2, { withinMs: 60_000, what: 'a third refusal' });
      // End the budget only now: with little time left, the answer to a try would be cut off.
      await system.sql(`UPDATE run SET deadline_at = now() ${ofRun}`, [refused.workspaceId]);
      const answer = await answering;
      expectBucket(answer, 503, 'service_unavailable', /./);
      expect(answer.headers.has('retry-after')).toBe(false);
    });

    it('deadline_exceeded: the router’s own deadline, with Retry-After once the run is submitted', async () => {
      const late = await system.caller();
      const call = async () => {
        const answer = await late.call('POST', `${shortDeadline.url}${model}`, {
          body: prompt(unending),
          headers: { 'idempotency-key': 'late' },
        });
        expectBucket(answer, 504, 'deadline_exceeded', /same Idempotency-Key/);
        return answer.headers.get('retry-after');
      };
      await call();
      const held = `SELECT FROM run WHERE workspace_id = $1 AND handle IS NOT NULL`;
      await waitFor(async () => (await system.sql(held, [late.workspaceId])).length === 1, {
        withinMs: 20_000,
        what: 'the handle',
      });
      expect(await call()).toMatch(/^[1-9]\d*$/);
      await system.provider.finish();
    });

    it('internal_error: an unforeseen failure, whose text stays inside and whose key stays used', async () => {
      const broken = await system.startGateway({ FAILPOINT: 'submit.afterDeliver:fail' });
      system.forget(broken);
      const call = () =>
        caller.call('POST', `${broken.url}${model}`, {
          body: prompt('[[sim:tag=broken]]'),
          headers: { 'idempotency-key': 'broken' },
        });
      expectBucket(await call(), 500, 'internal_error', /^(?!.*failpoint).*$/);
      expect((await call()).status).toBe(200);
      expect(await system.provider.accepted('broken')).toBe(1);
    });

    it('service_unavailable: Postgres is down, and the gateway recovers by itself', async () => {
      toPostgres.set('reset');
      const answer = await caller.call('POST', `${shortDeadline.url}${model}/requests`, {
        body: prompt('x'),
      });
      expectBucket(answer, 503, 'service_unavailable', /temporarily/);
      toPostgres.set('pass');
      await waitFor(
        async () =>
          (await caller.call('POST', `${shortDeadline.url}${model}/requests`, { body: prompt('x') }))
            .status === 201,
        { withinMs: 20_000, what: 'a submission to be accepted again' },
      );
    });

    it('keeps every invariant', () => holdToInvariants(system));
  },
);

failOnLeftovers();
