/** The seed to reproduce, from MODEL_SEED; otherwise the given one. */
export const seedOr = (usual: number): number => Number(process.env['MODEL_SEED'] ?? usual);

export const randomSeed = (): number => Math.floor(Math.random() * 2 ** 31);

/** Numbers from 0 to 1, the same for the same seed. */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // A linear congruential generator, whose upper bits are random enough for choices.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
