import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, tcpProxy, type TcpProxy, transports, unending, waitFor } from '../harness/index.js';

describe.each(transports().slice(0, 1))('a held call whose gateway loses Postgres on %s', (transport) => {
  let system: System;
  let toPostgres: TcpProxy;
  let gateway: App;

  beforeAll(async () => {
    system = await System.start({ transport });
    const url = new URL(system.database.url);
    toPostgres = await tcpProxy({ port: Number(url.port), host: url.hostname });
    url.host = toPostgres.address;
    gateway = await system.startGateway({ DATABASE_URL: url.href });
  });
  afterAll(async () => {
    toPostgres.set('pass');
    await system.stop();
    await toPostgres.close();
  });

  it('is answered with its result once Postgres is back, and not sent away in between', async () => {
    const caller = await system.caller();
    const answering = caller.call('POST', `${gateway.url}/v2/models/bfl/flux-2-pro`, {
      body: `{"prompt":"[[sim:tag=held]] ${unending}"}`,
      withinMs: 90_000,
    });
    let settled = false;
    void answering.finally(() => (settled = true));
    await waitFor(async () => (await system.partner.peaks('held')).accepted === 1, {
      withinMs: 20_000,
      what: 'the submission',
    });
    toPostgres.set('reset');
    await system.partner.finish();
    await waitFor(
      async () =>
        (
          await system.sql(`SELECT 1 FROM run WHERE workspace_id = $1 AND stage = 'completed'`, [
            caller.workspaceId,
          ])
        ).length === 1,
      { withinMs: 20_000, what: 'the outcome' },
    );
    // Two of the checks that a gateway makes each second of its held runs fail meanwhile.
    const failedChecks = () => gateway.logs().split('the runs of held calls could not be checked').length - 1;
    await waitFor(() => failedChecks() >= 2, { withinMs: 30_000, what: 'checks that fail' });
    expect(settled).toBe(false);
    toPostgres.set('pass');
    expect((await answering).status).toBe(200);
    await holdToInvariants(system);
    expect((await system.partner.peaks('held')).accepted).toBe(1);
  });
});

failOnLeftovers();
