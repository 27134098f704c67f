import { setTimeout as pause } from 'node:timers/promises';
import { holdToInvariants } from '../harness/oracle.js';
import type { System } from '../harness/system.js';
import type { TestCaller } from '../harness/system-side.js';
import { chanceOf } from '../models/replay.js';
import { type Call, makeCall, newCall } from './calls.js';
import { doChaos } from './chaos.js';
import { brokenPromises, judge, type Verdict } from './verdict.js';

interface Phase {
  name: string;
  seed: number;
  lastsMs: number;
  callsPerSecond: number;
  /** Whether providers fail, and the average pause between two acts of chaos; null for neither. */
  chaos: { pauseMs: number } | null;
}

export interface PhaseReport extends Verdict {
  name: string;
  acts: Map<string, number>;
  /** Seconds from the last call until every run had its outcome. */
  drainedSeconds: number;
  broken: string[];
}

async function changed(caller: TestCaller, path: string, body: object): Promise<void> {
  const { status, bytes } = await caller.call('PUT', path, { body: JSON.stringify(body) });
  if (status !== 200) throw new Error(`${path} answered ${status}: ${bytes.toString()}`);
}

const startMicros = 1_000_000_000_000;
/** The maximum time that callers and runs may take after the last call. */
const drainMs = 300_000;

/** Slots of the workspaces: one has too few, another has plenty. */
const slots = [2, 8, 20, 1000];

/** Lets callers of several workspaces use the system, with or without chaos, and checks its promises. */
export async function soak(system: System, phase: Phase): Promise<PhaseReport> {
  const callers = await Promise.all(
    slots.map((inflightLimit) =>
      system.caller(
        {
          inflightLimit,
          backlogLimit: 1_000_000,
          windowLimit: 1_000_000,
          committedLimitMicros: startMicros,
          balanceMicros: startMicros,
        },
        `${phase.name}-${phase.seed}-${inflightLimit}`,
        ['catalog', 'run', 'manage', 'provider_keys'],
      ),
    ),
  );
  await Promise.all(
    callers.map((caller) => changed(caller, '/v2/budgets/soak', { window: 'day', limit_cents: 1e9 })),
  );
  // One workspace pays one of the providers itself.
  const ownKey = `own-${phase.name}-${phase.seed}-0123456789`;
  system.secrets.push(ownKey);
  await changed(callers[2] as TestCaller, '/v2/provider-keys/fal', { key: ownKey });
  const over = AbortSignal.timeout(phase.lastsMs);
  const tooLate = AbortSignal.timeout(phase.lastsMs + drainMs);
  const chance = chanceOf(phase.seed);
  const calls: Call[] = [];
  const making: Promise<string[]>[] = [];
  const load = async () => {
    while (!over.aborted) {
      const call = newCall(`${phase.name}-${calls.length}`, callers, chance, {
        withFaults: phase.chaos !== null,
        withStreams: true,
      });
      calls.push(call);
      making.push(makeCall(call, tooLate));
      // Arrivals that are independent of each other.
      await pause((-Math.log(1 - chance()) * 1000) / phase.callsPerSecond);
    }
  };
  const chaos = phase.chaos
    ? doChaos(system, chanceOf(phase.seed + 1), over, phase.chaos.pauseMs)
    : { acts: new Map<string, number>(), inTheAir: new Set<string>() };
  const [{ acts, inTheAir }] = await Promise.all([chaos, load()]);
  const endedMs = performance.now();
  const strange = (await Promise.all(making)).flat();
  const broken = await holdToInvariants(system, drainMs).then(
    () => [],
    (error: unknown) => [String(error)],
  );
  return {
    name: phase.name,
    acts,
    drainedSeconds: (performance.now() - endedMs) / 1000,
    ...(await judge(system, calls, inTheAir)),
    broken: [
      ...strange.map((each) => `strange answer: ${each}`),
      ...broken,
      ...(await brokenPromises(system, calls, startMicros)),
    ],
  };
}
