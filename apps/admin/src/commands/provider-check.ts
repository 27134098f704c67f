import type { Catalog } from '#catalog';
import { providerCheckView } from '#persistence';
import type { OperatorProviderCheck } from '#schemas';
import type { Answer, Desk } from '../answer.js';
import { catalogOf } from '../known-models.js';
import type { Services } from '../open-database.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';
import { cheapestRun, type CheckRun } from './provider-run.js';

export interface CheckOptions {
  run?: true;
  workspace?: string;
  url?: string;
}

interface Checked extends OperatorProviderCheck {
  run?: CheckRun;
}

/** Checks the keys of the named providers, or of all, at once. With `run`, each also makes a run, one after the other. */
export async function checkProviders(
  services: Services,
  names: readonly string[],
  options: CheckOptions,
  desk: Desk,
): Promise<Answer> {
  const catalog = await catalogOf(desk.env);
  const known = catalog.providers.map(({ name }) => name);
  const missing = names.find((name) => !known.includes(name));
  if (missing !== undefined) throw unknownName('provider', missing, known);
  if (options.run && (names.length === 0 || options.workspace === undefined))
    throw new Error('--run needs the names of the providers, and --workspace <name>, which is billed.');
  const asked = names.length > 0 ? [...new Set(names)] : known;
  const checks: Checked[] = await Promise.all(asked.map((name) => check(services, catalog, name)));
  for (const each of options.run ? checks : [])
    each.run = await cheapestRun(services, catalog, each.provider, options, desk);
  return {
    document: { providers: checks },
    text: options.run ? `${checksText(checks)}\n\n${runsText(checks)}` : checksText(checks),
    bad: checks.some((each) => isBad(each, names.length > 0)),
  };
}

async function check({ checks }: Services, catalog: Catalog, name: string): Promise<OperatorProviderCheck> {
  const hasCheck = catalog.providers.some((each) => each.name === name && each.check !== undefined);
  return providerCheckView(name, await checks.check(name, hasCheck));
}

/** A provider that nobody uses has no key, which is a finding only if the operator asked about it. */
function isBad({ result, run }: Checked, isNamed: boolean): boolean {
  if (run && run.status !== 'succeeded') return true;
  switch (result) {
    case 'ok':
    case 'no_free_check':
      return false;
    case 'no_key':
      return isNamed;
    case 'rejected':
    case 'unreachable':
    case 'no_worker':
      return true;
  }
}

const resultTexts = {
  ok: 'ok',
  rejected: 'rejected',
  unreachable: 'unreachable',
  no_free_check: 'no free check',
  no_key: 'no key',
  no_worker: 'no worker answered',
} as const satisfies Record<OperatorProviderCheck['result'], string>;

export const checkText = ({ result }: Pick<OperatorProviderCheck, 'result'>): string => resultTexts[result];

export const balanceText = ({ balance }: Pick<OperatorProviderCheck, 'balance'>): string | undefined =>
  balance && `${balance.amount} ${balance.unit}`;

const checksText = (checks: readonly Checked[]): string =>
  table(checks, {
    PROVIDER: ({ provider }) => provider,
    RESULT: checkText,
    LATENCY: ({ latency_ms: ms }) => ms && `${ms} ms`,
    BALANCE: balanceText,
    DETAIL: ({ detail }) => detail,
  });

const runsText = (checks: readonly Checked[]): string =>
  table(
    checks.flatMap(({ run }) => run ?? []),
    {
      RUN: ({ request_id }) => request_id,
      MODEL: ({ model }) => model,
      RESULT: ({ status, error_type: type }) => (type === undefined ? status : `${status} (${type})`),
      COST: ({ cost_cents: cents }) => (cents === undefined ? undefined : `${cents} cents`),
      SECONDS: ({ seconds }) => seconds,
    },
  );
