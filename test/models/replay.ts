/** The seed of this run, to be given again as MODEL_SEED; MODEL_RUNS widens or narrows it. */
export function replayOf(runs: number): { seed: number; runs: number } {
  const { MODEL_SEED, MODEL_RUNS } = process.env;
  return {
    seed: MODEL_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(MODEL_SEED),
    runs: MODEL_RUNS === undefined ? runs : Number(MODEL_RUNS),
  };
}

/** Numbers from 0 to 1, the same for the same seed. */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // A linear congruence: its upper bits are random enough to choose by.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
