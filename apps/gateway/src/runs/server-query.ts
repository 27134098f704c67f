import { z } from 'zod';

/** What a call that begins a run may ask for beside its input. */
export const serverQuery = z.object({
  model_provider: z.string({ error: 'must be given once' }).optional().meta({
    description:
      'Which of the model’s servers runs it, by the first segment of the server’s id; its own input is checked then, and no other serves. Left out, the first that is set up serves, and the next that takes the same input only when that one provably did not take the run.',
  }),
});
