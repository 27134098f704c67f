import { StartupError } from '#errors';
import { z } from 'zod';

/**
 * Settings are declared beside the code that reads them, as a shape from variable name to schema. Every schema has
 * a description and an example, from which docs/configuration.md and `.env.example` are generated.
 */
export type SettingsShape = Record<string, z.ZodType>;

export class BadSettings extends StartupError {
  constructor(readonly problems: string[]) {
    super(
      `These environment variables are not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.name = 'BadSettings';
  }
}

/**
 * Former names of settings. A deployment may set both names while two releases run side by side. If only the former
 * name is set, startup fails, because the value would be ignored.
 */
const renamed: Record<string, string> = { PROVIDER_LANE_PAUSE_MS: 'PROVIDER_MAX_PAUSE_MS' };

/** Parses `env`. Empty variables count as absent. Throws `BadSettings` with all problems. */
export function readSettings<S extends SettingsShape>(
  shape: S,
  env: NodeJS.ProcessEnv,
): z.infer<z.ZodObject<S>> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const former = Object.entries(renamed)
    .filter(([old, name]) => env[old] && name in shape && !env[name])
    .map(([old, name]) => `${old}: is now called ${name}`);
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success && former.length === 0) return parsed.data;
  const problems = (parsed.error?.issues ?? []).map(
    (issue) => `${issue.path.join('.')}: ${plain(issue.message)}`,
  );
  throw new BadSettings([...problems, ...former]);
}

const plain = (message: string): string =>
  message.replace('Invalid input: ', '').replace(/^expected \w+, received undefined$/, 'is required');

/** An integer of at least 1. The default is also the example. */
export const count = (byDefault: number, description: string) =>
  z.coerce
    .number()
    .int()
    .positive()
    .default(byDefault)
    .meta({ description, example: String(byDefault) });

/** A timer of more than 2³¹-1 ms fires at once. A week leaves room for other times that are added. */
const maxMs = 7 * 24 * 60 * 60 * 1000;

/** A duration of at least one millisecond that timers and Postgres accept. */
export const milliseconds = (byDefault: number, description: string) =>
  count(byDefault, description).refine((ms) => ms <= maxMs, `must be at most ${maxMs} (one week)`);

/** A count with an upper bound, so that a value too large to use is rejected at startup. */
export const countUpTo = (max: number, byDefault: number, description: string) =>
  count(byDefault, description).refine((value) => value <= max, `must be at most ${max}`);

/** A comma-separated list, empty by default. */
export const list = (byDefault = '') =>
  z
    .string()
    .default(byDefault)
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    );

/** Whether a list of secrets can sign: each is long enough, and there is one. */
export const areSecrets = (secrets: readonly string[]): boolean =>
  secrets.length > 0 && secrets.every((secret) => secret.length >= 32);
export const secretsExpected = 'must be one or two secrets of at least 32 characters, separated by a comma';

const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/\S+$/, 'must look like postgres://user:password@host:5432/name')
  // The driver accepts an empty host, for a socket whose folder is a parameter. `URL` does not.
  .refine(
    (url) => URL.canParse(url.replace('@/', '@host/')),
    'must be a valid URL: check the host and port, and percent-encode special characters in the password',
  );

/** The address of the database, for the repositories, and for the queue if there is no Redis. */
export const databaseUrlSettings = {
  DATABASE_URL: postgresUrl.meta({
    description: 'Postgres, which stores every run, key and ledger entry.',
    example: 'postgres://router:secret@127.0.0.1:5432/router',
  }),
  DATABASE_DIRECT_URL: postgresUrl.optional().meta({
    description:
      'The Postgres server itself, for migrations, operator commands and LISTEN. Set it when DATABASE_URL points to a transaction pooler such as PgBouncer.',
    example: 'postgres://router:secret@10.0.0.5:5432/router',
  }),
};
