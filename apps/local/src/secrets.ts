import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { readKept, writeKept } from './kept-file.js';

const schema = z.object({
  signing: z.string(),
  jwt: z.string(),
  postgres: z.string(),
  redis: z.string(),
});

export type Secrets = z.infer<typeof schema>;

/** Made once for an installation: a new signing secret would void every URL that was handed out. */
export function keptSecrets(file: string): Secrets {
  const kept = readKept(file, schema);
  if (kept) return kept;
  const made = { signing: secret(), jwt: secret(), postgres: secret(), redis: secret() };
  writeKept(file, made);
  return made;
}

const secret = (): string => randomBytes(32).toString('hex');
