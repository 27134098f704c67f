/** The seed that is to be tried again, given as MODEL_SEED; the usual one when none is. */
export const seedOr = (usual: number): number => Number(process.env['MODEL_SEED'] ?? usual);

export const randomSeed = (): number => Math.floor(Math.random() * 2 ** 31);

/** Numbers from 0 to 1, the same for the same seed. */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // A linear congruence: its upper bits are random enough to choose by.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
