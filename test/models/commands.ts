import * as fc from 'fast-check';

/** How a run may end here: this determines its bill and the provider's answer. */
export type EndingKind = 'succeeded' | 'unavailable' | 'provider_failed' | 'policy_billed' | 'cancelled';

/**
 * One verb. `pick` chooses among the existing runs; `stale` uses a lost claim. `take`, `sweep`, `pause` and
 * `resume` apply to all runs.
 */
export type Command =
  | { verb: 'admit'; mode: 'queued' | 'sync'; cost: number; key: number | null; variant: number }
  | { verb: 'take' }
  | { verb: 'sweep' }
  | { verb: 'pause' }
  | { verb: 'resume' }
  | { verb: 'begin'; pick: number; stale: boolean }
  | { verb: 'save'; pick: number; stale: boolean }
  | { verb: 'postpone'; pick: number; stale: boolean; later: boolean }
  | { verb: 'finish'; pick: number; stale: boolean; ending: EndingKind }
  | { verb: 'cancel'; pick: number }
  | { verb: 'leave'; pick: number; disconnected: boolean }
  | { verb: 'expire'; pick: number }
  | { verb: 'limits'; inflight: number; committed: number; backlog: number };

export interface Start {
  inflight: number;
  committed: number;
  backlog: number;
  balance: number | null;
}

const pick = fc.nat({ max: 1000 });
const rarely = fc.integer({ min: 0, max: 4 }).map((value) => value === 0);
const limits = {
  inflight: fc.integer({ min: 0, max: 4 }),
  committed: fc.integer({ min: 0, max: 12 }),
  backlog: fc.integer({ min: 0, max: 5 }),
};
const endings = fc.constantFrom<EndingKind>(
  'succeeded',
  'succeeded',
  'unavailable',
  'provider_failed',
  'policy_billed',
  'cancelled',
);

const admit = fc.record({
  verb: fc.constant('admit' as const),
  mode: fc.constantFrom('queued' as const, 'queued' as const, 'sync' as const),
  cost: fc.integer({ min: 0, max: 6 }),
  key: fc.option(fc.integer({ min: 0, max: 3 })),
  variant: fc.integer({ min: 0, max: 3 }).map((value) => (value === 0 ? 1 : 0)),
});
const onAll = <Verb extends string>(verb: Verb) => fc.record({ verb: fc.constant(verb) });
const onRun = <Verb extends string>(verb: Verb) => fc.record({ verb: fc.constant(verb), pick });
const onClaim = <Verb extends string>(verb: Verb) =>
  fc.record({ verb: fc.constant(verb), pick, stale: rarely });

/** Weighted so that runs make progress: most commands are admissions and the next steps of a run. */
export const commands = (maxLength: number): fc.Arbitrary<Command[]> =>
  fc.array(
    fc.oneof(
      { weight: 8, arbitrary: admit },
      { weight: 8, arbitrary: onAll('take') },
      { weight: 6, arbitrary: onAll('sweep') },
      { weight: 1, arbitrary: onAll('pause') },
      { weight: 3, arbitrary: onAll('resume') },
      { weight: 7, arbitrary: onClaim('begin') },
      { weight: 4, arbitrary: onClaim('save') },
      {
        weight: 2,
        arbitrary: fc.record({
          verb: fc.constant('postpone' as const),
          pick,
          stale: rarely,
          later: fc.boolean(),
        }),
      },
      {
        weight: 6,
        arbitrary: fc.record({ verb: fc.constant('finish' as const), pick, stale: rarely, ending: endings }),
      },
      { weight: 3, arbitrary: onRun('cancel') },
      {
        weight: 1,
        arbitrary: fc.record({ verb: fc.constant('leave' as const), pick, disconnected: fc.boolean() }),
      },
      { weight: 4, arbitrary: onRun('expire') },
      { weight: 2, arbitrary: fc.record({ verb: fc.constant('limits' as const), ...limits }) },
    ),
    { minLength: Math.min(20, maxLength), maxLength, size: 'max' },
  );

export const starts: fc.Arbitrary<Start> = fc.record({
  ...limits,
  inflight: fc.integer({ min: 1, max: 4 }),
  committed: fc.integer({ min: 4, max: 12 }),
  balance: fc.option(fc.integer({ min: 0, max: 40 })),
});
