import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, tcpProxy, type TcpProxy, transports, unending, waitFor } from '../harness/index.js';

describe.each(transports().slice(0, 1))(
  'a synchronous call whose gateway loses Postgres, on %s',
  (transport) => {
    let system: System;
    let toPostgres: TcpProxy;
    let gateway: App;

    beforeAll(async () => {
      system = await System.start({ transport });
      const url = new URL(system.database.url);
      toPostgres = await tcpProxy({ port: Number(url.port), host: url.hostname });
      url.host = toPostgres.address;
      gateway = await system.startGateway({ DATABASE_URL: url.href, LOG_LEVEL: 'debug' });
    });
    afterAll(async () => {
      toPostgres.set('pass');
      await system.stop();
      await toPostgres.close();
    });

    it('gets its result once Postgres is back, and no error before', async () => {
      // The simulator's output repeats the prompt, so this output is too large for the signal.
      const held = await hold('large', 'x'.repeat(70_000));
      // Two of the gateway's checks of its held runs, one per second, fail meanwhile.
      await waitFor(() => failedChecks() >= 2, { withinMs: 30_000, what: 'checks that fail' });
      expect(held.isSettled()).toBe(false);
      toPostgres.set('pass');
      expect((await held.answering).status).toBe(200);
      await holdToInvariants(system);
      expect(await held.submissions()).toBe(1);
    });

    const failedChecks = () => gateway.logs().split('could not read the watched runs').length - 1;

    it.each([transport].filter((kind) => kind === 'redis'))(
      'gets its result without Postgres if the signal carries the output (%s)',
      async () => {
        const held = await hold('small', 'a small output');
        const answer = await held.answering;
        expect([answer.status, answer.bytes.toString()]).toEqual([
          200,
          expect.stringContaining('a small output'),
        ]);
        toPostgres.set('pass');
        await holdToInvariants(system);
        expect(await held.submissions()).toBe(1);
      },
    );

    /** A call that is held while its gateway loses Postgres, and whose run has completed since. */
    async function hold(tag: string, prompt: string) {
      const caller = await system.caller();
      const answering = caller.call('POST', `${gateway.url}/v2/models/bfl/flux-2-pro`, {
        body: `{"prompt":"[[sim:tag=${tag}]] ${unending} ${prompt}"}`,
        withinMs: 90_000,
      });
      let isSettled = false;
      void answering.finally(() => (isSettled = true));
      const submissions = () => system.provider.accepted(tag);
      await waitFor(async () => (await submissions()) === 1, { withinMs: 20_000, what: 'the submission' });
      toPostgres.set('reset');
      await system.provider.finish();
      await waitFor(
        async () =>
          (
            await system.sql(`SELECT 1 FROM run WHERE workspace_id = $1 AND stage = 'completed'`, [
              caller.workspaceId,
            ])
          ).length === 1,
        { withinMs: 20_000, what: 'the outcome' },
      );
      return { answering, submissions, isSettled: () => isSettled };
    }
  },
);

failOnLeftovers();
