import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Lab } from '../catalog/lab.js';
import { provider, row } from '../catalog/own-rows.js';
import { System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, temporaryFolder, transports, waitFor } from '../harness/index.js';

describe('a provider without a key', () => {
  const rows = temporaryFolder('rows');
  let upstream: Lab;
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    upstream = await Lab.start();
    writeFileSync(path.join(rows, 'lab.yaml'), provider('lab', upstream.url, ''));
    writeFileSync(path.join(rows, 'paint.yaml'), row('lab/paint', 'now/paint', 1_000));
    writeFileSync(
      path.join(rows, 'brief.yaml'),
      `${row('lab/brief', 'now/brief', 1_000)}budget_seconds: 2\n`,
    );
    const [transport = 'postgres'] = transports();
    system = await System.start({ transport, workers: 0, env: { CATALOG_DIR: rows } });
    caller = await system.caller();
  });
  afterAll(async () => {
    await system.stop();
    await upstream.stop();
  });

  const submit = () => caller.call('POST', '/v2/models/lab/paint/requests', { body: '{"prompt":"a cat"}' });
  const isListed = async () => (await caller.listed()).includes('lab/paint');
  const untilListed = (listed: boolean) =>
    waitFor(async () => (await isListed()) === listed, { withinMs: 20_000, what: `listed: ${listed}` });

  it('is served until a worker has reported, and then is not listed, not accepted and never called', async () => {
    expect(await isListed()).toBe(true);
    const early = await caller.submit('lab/paint', '{"prompt":"early"}');
    const brief = await caller.submit('lab/brief', '{"prompt":"brief"}');

    const keyless = await system.startWorker();
    await untilListed(false);
    const refused = await submit();
    expect([refused.status, refused.headers.get('x-service-error-type')]).toEqual([403, 'not_enabled']);
    expect((await caller.call('GET', '/v2/models/lab/paint')).status).toBe(200);
    expect(await caller.completed(brief)).toMatchObject({ error_type: 'service_unavailable' });
    expect(upstream.submissions).toEqual([]);

    const keyed = await system.startWorker({ PROVIDER_LAB_KEY: 'key' });
    await untilListed(true);
    await caller.completed(early, 120_000);
    expect((await caller.collect(early)).bytes.toString()).toBe('{"echo": {"prompt":"early"}}');
    expect(upstream.submissions).toHaveLength(1);

    await keyed.stop();
    system.forget(keyed);
    await untilListed(false);
    expect((await submit()).status).toBe(403);
    // Without any worker the last state stays.
    await keyless.stop();
    system.forget(keyless);
    expect((await submit()).status).toBe(403);
    expect((await caller.submit('bfl/flux-2-pro', '{"prompt":"a cat"}')).requestId).toBeDefined();

    await system.startWorker({ PROVIDER_LAB_KEY: 'key' });
    await waitFor(async () => (await submit()).status === 201, {
      withinMs: 20_000,
      what: 'lab/paint to be served again',
    });
  }, 180_000);
});

failOnLeftovers();
