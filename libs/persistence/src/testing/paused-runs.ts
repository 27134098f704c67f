import { expect } from '@jest/globals';
import { leaseMs, type RunFixture } from './run-fixture.js';

/** How specs look at runs whose provider is paused. */
export function pausedRuns(fixture: RunFixture) {
  let cases = 0;
  /** Each case has its own provider, because a pause affects all of a provider's runs. */
  const nextProvider = () => `provider-${(cases += 1)}`;

  /** How long a sweep puts a run off. Null if it keeps waiting. */
  async function putOffMs(runId: string, by = fixture.first): Promise<number | null> {
    expect(await fixture.swept(runId, by)).toBeUndefined();
    const [row] = await by.sql<{ restMs: number | null }>(
      `SELECT CASE WHEN due_at < 'infinity' THEN extract(epoch FROM due_at - router_now())::float * 1000 END AS "restMs"
       FROM outbox WHERE run_id = $1`,
      [runId],
    );
    return row?.restMs ?? null;
  }

  /** Puts a run off by a sweep, and expects that no worker can take it. */
  async function held(runId: string, by = fixture.first): Promise<number> {
    const restMs = await putOffMs(runId, by);
    if (restMs === null) throw new Error('The run keeps waiting');
    expect(await takenBy(runId, by)).toBeUndefined();
    return restMs;
  }

  /** The run, as a worker that looks at its line takes it. */
  async function takenBy(runId: string, by = fixture.first) {
    const [row] = await by.sql<{ provider: string }>('SELECT provider FROM run WHERE id = $1', [runId]);
    const looked = { held: new Map<string, number>(), maxHeld: 100, most: 10, leaseMs };
    return (await by.dispatch.takeRuns(row?.provider ?? '', looked)).find((each) => each.runId === runId);
  }

  return { nextProvider, putOffMs, held, takenBy };
}
