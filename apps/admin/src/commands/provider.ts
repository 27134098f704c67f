import { providerView } from '#persistence';
import type { OperatorProvider } from '#schemas';
import { catalogOf } from '../known-models.js';
import { answering, type Services } from '../open-database.js';
import { line } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';

export const providerCommands: CommandGroup = (program, desk) => {
  const provider = program.command('provider').description('Providers: list, pause and resume them.');
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
    'FAILED (24 H)': ({ last_day: { requests, succeeded } }) => `${requests - succeeded} of ${requests}`,
    PAUSED: ({ pause }) => pause && `${pause.calls}s`,
    BY: ({ pause }) => pause && (pause.actor ?? pause.asked_by),
    SINCE: ({ pause }) => pause?.since,
    UNTIL: ({ pause }) => pause && (pause.until ?? 'resumed'),
    REASON: ({ pause }) => pause?.reason,
  });
}
