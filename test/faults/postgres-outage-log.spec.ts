import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports, unending, waitFor } from '../harness/index.js';

interface Line {
  level: number;
  msg: string;
  server?: string;
  reason?: string;
  away_s?: number;
  failures?: number;
}

const infoLevel = 30;
const server = 'the database';

describe.each(transports().slice(0, 1))('an outage of Postgres in the log, on %s', (transport) => {
  let system: System;
  beforeAll(async () => {
    // Debug lines show that the work of this test did fail during the outage.
    system = await System.start({ transport, ownPostgres: true, env: { LOG_LEVEL: 'debug' } });
  });
  afterAll(() => system.stop());

  it('has one line at its start, one a minute and one at its end, of each process and without stacks', async () => {
    const caller = await system.caller();
    const queued = await caller.submit('bfl/flux-2-pro', `{"prompt":"queued ${unending}"}`);
    const held = caller.call('POST', '/v2/models/bfl/flux-2-pro', {
      body: `{"prompt":"held ${unending}"}`,
      withinMs: 240_000,
    });
    await waitFor(
      async () => (await system.provider.ledger()).filter((each) => each.pollCount > 0).length === 2,
      { withinMs: 30_000, what: 'two generations that are polled' },
    );
    const from = new Map(system.apps.map((app) => [app, linesOf(app).length]));
    const since = (app: App) => linesOf(app).slice(from.get(app));
    const about = (app: App) => since(app).filter((line) => line.server === server);

    await system.postgres.kill('SIGKILL');
    await waitFor(() => system.apps.every((app) => about(app).length >= 2), {
      withinMs: 120_000,
      what: 'the second line about the outage, of each process',
      everyMs: 500,
    });
    // Each process fails again before the end of the outage, so that its last line counts more failures.
    await pause(3_000);
    await system.postgres.restart();
    await waitFor(() => system.apps.every((app) => about(app).at(-1)?.msg === `${server} is back`), {
      withinMs: 60_000,
      what: 'the last line about the outage, of each process',
    });
    await system.provider.finish();
    expect((await held).status).toBe(200);
    expect(await caller.completed(queued)).not.toHaveProperty('error_type');

    for (const app of system.apps) {
      const lines = about(app);
      expect(lines.map(({ msg }) => msg.replace(/, .*/, ''))).toEqual([
        `${server} is unreachable`,
        `${server} is still unreachable`,
        `${server} is back`,
      ]);
      const [first, still, back] = lines;
      expect(first?.reason).toMatch(/ECONN|Connection terminated|terminating connection/);
      expect(still?.away_s).toBeGreaterThanOrEqual(60);
      expect(back?.away_s).toBeGreaterThanOrEqual(60);
      expect(back?.failures).toBeGreaterThan(still?.failures ?? Infinity);

      const retried = since(app).filter(({ msg }) => msg.startsWith('could not '));
      expect(retried.length).toBeGreaterThan(20);
      expect(retried.filter(({ level }) => level >= infoLevel)).toEqual([]);
      expect(JSON.stringify(since(app))).not.toMatch(/"stack":/);
    }
    await holdToInvariants(system);
  });
});

failOnLeftovers();

const linesOf = (app: App): Line[] =>
  app
    .logs()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
