import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { type App, holdToInvariants, type System } from '../../harness/faults.js';
import { failOnLeftovers, transports } from '../../harness/index.js';
import { chanceOf } from '../../models/replay.js';
import { type Call, makeCall, newCall } from '../../soak/calls.js';
import { brokenPromises, judge } from '../../soak/verdict.js';
import { migrateBy, newCaller, startApps, startMicros, systemOf } from './previous-system.js';
import { previousRelease, Release } from './release.js';

/**
 * How long each phase lasts beyond its work; `UPGRADE_PHASE_MS=60000` makes the upgrade take at least six
 * minutes.
 */
const phaseMs = Number(process.env['UPGRADE_PHASE_MS'] ?? 5_000);
const callsPerSecond = 8;

interface Phase {
  name: string;
  /** Processes are stopped in this phase, so synchronous calls may end with 504. */
  restarts: boolean;
  failures: string[];
}

let previous: Release;
beforeAll(async () => {
  previous = await Release.build(previousRelease);
}, 900_000);

describe.each(transports())('an upgrade on %s', (transport) => {
  let system: System;
  beforeEach(async () => {
    system = await systemOf(previous, transport);
  }, 600_000);
  afterEach(() => system.stop());

  /** Like a load balancer: an app gets no more calls before it is stopped. */
  async function stop(apps: App[]): Promise<void> {
    for (const app of apps) {
      system.forget(app);
      expect([app.name, await app.stop()]).toEqual([app.name, 0]);
    }
  }
  const oldest = (count: number) => [...system.gateways.slice(0, count), ...system.workers.slice(0, count)];

  it('under load, and the rollback, lose no run, submit none twice, and reject no call', async () => {
    const phases: Phase[] = [];
    const callers = await Promise.all(
      [5, 1000].map((inflight) =>
        newCaller(system, previous, inflight, ({ status, bucket }) =>
          phases.at(-1)?.failures.push(`${status} ${bucket}`),
        ),
      ),
    );
    for (let each = 0; each < 2; each += 1) await startApps(system, previous);
    const [over, tooLate] = [new AbortController(), new AbortController()];
    const chance = chanceOf(7);
    const calls: Call[] = [];
    const making: Promise<string[]>[] = [];
    const load = async () => {
      while (!over.signal.aborted) {
        const call = newCall(`upgrade-${calls.length}`, callers, chance, {
          withFaults: false,
          // The release before has none.
          withStreams: false,
        });
        calls.push(call);
        making.push(makeCall(call, tooLate.signal));
        await pause((-Math.log(1 - chance()) * 1000) / callsPerSecond);
      }
    };
    const phase = async (name: string, restarts: boolean, act: () => unknown = () => {}) => {
      const [failures, made, startedMs]: [string[], number, number] = [[], calls.length, performance.now()];
      phases.push({ name, restarts, failures });
      await act();
      const tookMs = performance.now() - startedMs;
      await pause(phaseMs);
      process.stdout.write(
        `${transport}: ${name}: ${Math.round(tookMs)} ms, ${calls.length - made} calls, ${failures.length} failures of the service ${[...new Set(failures)].join(', ')}\n`,
      );
    };

    const loading = load();
    await phase('the previous release', false);
    await phase('the new release migrates', false, async () =>
      expect(await migrateBy(Release.current, system)).toMatchObject({ functions: true }),
    );
    await phase('both releases side by side', false, () => startApps(system, Release.current));
    await phase('the new release takes over', true, async () => {
      await startApps(system, Release.current);
      await stop(oldest(2));
    });
    await phase('back to the previous release', true, async () => {
      await migrateBy(previous, system);
      await startApps(system, previous);
      await stop(oldest(2));
    });
    await phase('the new release again', true, async () => {
      expect(await migrateBy(Release.current, system)).toEqual({ migrations: [], functions: false });
      await startApps(system, Release.current);
      await stop(oldest(1));
    });
    over.abort();
    await loading;
    const timer = setTimeout(() => tooLate.abort(), 300_000);
    const strange = (await Promise.all(making)).flat();
    clearTimeout(timer);
    await holdToInvariants(system, 120_000);
    const verdict = await judge(system, calls, new Set());
    process.stdout.write(
      `${transport}: ${calls.length} calls, ${verdict.reached} of ${verdict.finished} finished runs reached their callers, results ${JSON.stringify(Object.fromEntries(verdict.results))}\n`,
    );
    expect({
      strange,
      broken: await brokenPromises(system, calls, startMicros),
      missed: verdict.missed.map(({ prompt, result }) => `${prompt}: ${result}`),
      failures: phases.flatMap(({ name, restarts, failures }) =>
        failures
          .filter((failure) => !restarts || failure !== '504 deadline_exceeded')
          .map((failure) => `${name}: ${failure}`),
      ),
    }).toEqual({ strange: [], broken: [], missed: [], failures: [] });
  }, 900_000);
});

failOnLeftovers();
