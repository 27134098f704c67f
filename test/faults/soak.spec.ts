import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { System } from '../harness/faults.js';
import { failOnLeftovers, transports } from '../harness/index.js';
import { randomSeed, seedOr } from '../models/replay.js';
import { held, linesOf } from '../soak/report.js';
import { soak } from '../soak/soak.js';

const seed = seedOr(randomSeed());

describe.each(transports().slice(0, 1))('chaos while callers use the service, on %s', (transport) => {
  let system: System;
  beforeAll(async () => {
    system = await System.start({
      transport,
      ownPostgres: true,
      gateways: 2,
      workers: 2,
      env: { QUEUE_LOCK_MS: '5000', QUEUE_STALLED_MS: '1000', CLAIM_LEASE_MS: '5000' },
    });
  });
  afterAll(() => system.stop());

  it(`breaks no promise (MODEL_SEED=${seed}); npm run soak does the same for hours`, async () => {
    const report = await soak(system, {
      name: 'chaos',
      seed,
      lastsMs: 25_000,
      callsPerSecond: 3,
      chaos: { pauseMs: 4000 },
    });
    process.stdout.write(
      linesOf(report)
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(report.broken).toEqual([]);
    expect(report.acts.size).toBeGreaterThan(0);
    expect(held(report)).toBe(true);
  });
});

failOnLeftovers();
