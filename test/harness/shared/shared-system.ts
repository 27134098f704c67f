import { afterAll } from '@jest/globals';
import { appendFileSync } from 'node:fs';
import type { RunningApp } from '../spawn-app.js';
import { SystemSide, type TestCaller } from '../system-side.js';
import type { TransportKind } from '../transports.js';
import { appOf, describedSystem, type DescribedSystem, secretsFile } from './described.js';

/**
 * The system that all files of a run share, one a transport: two gateways, a worker, the simulator. Files keep apart
 * by workspace, and at the partner by a tag in the prompt. What concerns everything that ever happened there, such as
 * counters, the clock of the simulator and the invariants, is not theirs to look at or to move.
 */
export class SharedSystem extends SystemSide {
  readonly gateways: readonly RunningApp[];
  readonly workers: readonly RunningApp[];
  readonly apps: readonly RunningApp[];
  readonly redis: { url: string } | undefined;
  /** Where rows of models can be added, under names of one's own; the apps read them within a second. */
  readonly catalog: string;

  constructor(private readonly facts: DescribedSystem) {
    super({ url: facts.databaseUrl }, appOf(facts.simulator), facts.assets);
    this.gateways = facts.gateways.map(appOf);
    this.workers = facts.workers.map(appOf);
    this.apps = [...this.gateways, ...this.workers];
    this.redis = facts.redisUrl === undefined ? undefined : { url: facts.redisUrl };
    this.catalog = facts.catalog;
  }

  env(): Record<string, string> {
    return this.facts.env;
  }

  override async caller(...facts: Parameters<SystemSide['caller']>): Promise<TestCaller> {
    const caller = await super.caller(...facts);
    appendFileSync(secretsFile(), `${caller.key}\n`);
    return caller;
  }

  /** Ends the connections of this process; the system itself goes on. */
  async close(): Promise<void> {
    await this.closeConnections();
  }
}

/** The shared system of a transport for this file; call it in a `describe`. */
export function sharedSystem(transport: TransportKind): SharedSystem {
  const system = new SharedSystem(describedSystem(transport));
  afterAll(() => system.close());
  return system;
}
