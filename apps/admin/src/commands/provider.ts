import { providerView } from '#persistence';
import type { OperatorProvider } from '#schemas';
import { catalogOf } from '../known-models.js';
import { answering, type Services } from '../open-database.js';
import { httpUrl, line } from '../option-values.js';
import type { CommandSetup } from '../program.js';
import { aligned, table } from '../table.js';
import { unknownName } from '../unknown-name.js';
import { providerKeyCommands } from './provider-key.js';
import { balanceText, type CheckOptions, checkProviders, checkText } from './provider-check.js';

export const providerCommands: CommandSetup = (provider, desk) => {
  const checkKnown = async (services: Services, name: string): Promise<void> => {
    const known = (await providersOf(services, desk.env)).map((each) => each.provider);
    if (!known.includes(name)) throw unknownName('provider', name, known);
  };

  provider
    .command('pause')
    .description('Stop submitting runs to a provider. New runs wait, and runs in progress are still polled.')
    .argument('<provider>', 'name of the provider, such as bfl')
    .option('--reason <text>', 'reason to show in "provider list"', line, 'paused by an operator')
    .action(
      answering(desk, async (services, name: string, { reason }: { reason: string }) => {
        await checkKnown(services, name);
        const fresh = await services.pauses.pause(name, reason, services.actor);
        return {
          document: { provider: name, paused: true, reason },
          text: `${name} ${fresh ? 'is paused' : 'was already paused'}: ${reason}.`,
        };
      }),
    );

  provider
    .command('resume')
    .description(
      'End the pauses of a provider, including those that the provider requested. Waiting runs start within seconds.',
    )
    .argument('<provider>', 'name of the provider, such as bfl')
    .action(
      answering(desk, async (services, name: string) => {
        await checkKnown(services, name);
        const wasPaused = await services.pauses.resume(name, services.actor);
        return {
          document: { provider: name, paused: false },
          text: wasPaused ? `${name} is resumed.` : `${name} was not paused.`,
        };
      }),
    );

  provider
    .command('list')
    .description(
      'List all providers with their states, keys, pauses, waiting runs, and failures in the last 24 hours.',
    )
    .action(
      answering(desk, async (services) => {
        const providers = await providersOf(services, desk.env);
        return { document: { providers }, text: providersText(providers) };
      }),
    );

  provider
    .command('show')
    .description('Show a provider: its state, the last check of its key, and replies that were not expected.')
    .argument('<provider>', 'name of the provider, such as bfl')
    .action(
      answering(desk, async (services, name: string) => {
        await checkKnown(services, name);
        const found = (await providersOf(services, desk.env)).find((each) => each.provider === name);
        return { document: found ?? {}, text: found ? providerText(found) : '' };
      }),
    );

  providerKeyCommands(provider, desk, checkKnown);

  provider
    .command('check')
    .description(
      'Prove the keys of providers by a free call that a worker makes. Exits with 1 if a key is rejected, a provider does not answer, or a named provider has no key.',
    )
    .argument('[provider...]', 'names of providers (default: all)')
    .option('--run', 'also make one run of the cheapest model of each, after confirmation of its cost')
    .option('--workspace <name>', 'with --run: name or id of the workspace that is billed')
    .option('--url <url>', 'with --run: base URL of the gateways (default: PUBLIC_BASE_URL)', httpUrl)
    .action(
      answering(desk, (services, names: string[], options: CheckOptions) =>
        checkProviders(services, names, options, desk),
      ),
    );
};

/** The providers in the catalog, plus those that workers report or that have runs. */
async function providersOf(services: Services, env: NodeJS.ProcessEnv): Promise<OperatorProvider[]> {
  const { providers, models } = await catalogOf(env);
  const states = await services.providers.list(providers.map(({ name }) => name));
  return states.map((state) => providerView(state, models));
}

/** The state, with the runs that it is read from. A simulated provider in another state is named as such. */
function stateText({
  state,
  simulated,
  recent,
}: Pick<OperatorProvider, 'state' | 'simulated' | 'recent'>): string {
  if (state === null) return 'unknown';
  const { failed, throttled, runs } = recent;
  const name = {
    ready: 'ready',
    key_rejected: 'key rejected',
    no_balance: 'no balance',
    throttled: throttled > 0 ? `throttled (${throttled} of the last ${runs})` : 'throttled',
    failing: `failing (${failed} of the last ${runs})`,
    paused: 'paused',
    simulated: 'simulated',
    no_key: 'no key',
  }[state];
  return simulated && state !== 'simulated' ? `${name}, simulated` : name;
}

/** A table with a line for each pause, and a line for each provider without one. */
function providersText(providers: readonly OperatorProvider[]): string {
  const rows = providers.flatMap(({ pauses, ...provider }) =>
    (pauses.length === 0 ? [undefined] : pauses).map((pause) => ({ ...provider, pause })),
  );
  return table(rows, {
    PROVIDER: ({ provider }) => provider,
    STATE: stateText,
    KEY: ({ has_key }) => (has_key === null ? 'unknown' : has_key ? 'yes' : 'no'),
    WAITING: ({ pressure }) => pressure.waiting.runs,
    'IN PROGRESS': ({ pressure }) => pressure.under_way.runs,
    SURPRISES: ({ surprises }) => surprises.reduce((sum, { count }) => sum + count, 0),
    'FAILED (24 H)': ({ last_day: { requests, succeeded } }) => `${requests - succeeded} of ${requests}`,
    PAUSED: ({ pause }) => pause && `${pause.calls}s`,
    BY: ({ pause }) => pause && (pause.actor ?? pause.asked_by),
    SINCE: ({ pause }) => pause?.since,
    UNTIL: ({ pause }) => pause && (pause.until ?? 'resumed'),
    REASON: ({ pause }) => pause?.reason,
  });
}

/** The facts of a provider, then each kind of unexpected reply with the newest one. */
function providerText(provider: OperatorProvider): string {
  const { check, surprises, has_key: hasKey, models } = provider;
  const facts = aligned([
    ['provider', provider.provider],
    ['state', stateText(provider)],
    ['key', hasKey === null ? 'unknown' : hasKey ? 'yes' : 'no'],
    ['last check', check ? `${checkText(check)} at ${check.checked_at}` : '-'],
    ...(check?.detail === undefined ? [] : [['', check.detail]]),
    ...provider.keys.map(({ name, state }): [string, string] => ['', `${name}: ${state}`]),
    ['balance', (check && balanceText(check)) ?? '-'],
    ['models', String(models.length)],
    ['surprises', surprises.length === 0 ? 'none' : ''],
  ]);
  return [facts, ...surprises.map(surpriseText)].join('\n\n');
}

const surpriseText = (surprise: OperatorProvider['surprises'][number]): string =>
  [
    `${surprise.kind}: ${surprise.count} since ${surprise.first_at}, the newest at ${surprise.last_at}`,
    `  run ${surprise.request_id}${surprise.model === undefined ? '' : ` of ${surprise.model}`}`,
    `  ${surprise.detail}`,
    ...(surprise.reply === undefined
      ? []
      : [`  HTTP ${surprise.http_status}: ${surprise.reply.replaceAll('\n', '\n  ')}`]),
  ].join('\n');
