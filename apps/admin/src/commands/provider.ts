import { providerView } from '#persistence';
import type { OperatorProvider } from '#schemas';
import { actor } from '../actor.js';
import { catalogOf } from '../known-models.js';
import { answering, type Services } from '../open-database.js';
import { line } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';

export const providerCommands: CommandGroup = (program, desk) => {
  const provider = program.command('provider').description('Submissions to providers.');
  const checkKnown = async (services: Services, name: string): Promise<void> => {
    const known = (await providersOf(services, desk.env)).map((each) => each.provider);
    if (!known.includes(name)) throw unknownName('provider', name, known);
  };

  provider
    .command('pause')
    .description('Submit nothing more to a provider: its runs wait, and those under way are polled on.')
    .argument('<provider>', 'its name, such as bfl')
    .option('--reason <text>', 'shown by "provider list"', line, 'paused by an operator')
    .action(
      answering(desk, async (services, name: string, { reason }: { reason: string }) => {
        await checkKnown(services, name);
        const fresh = await services.pauses.pause(name, reason, actor());
        return {
          document: { provider: name, paused: true, reason },
          text: `${name} ${fresh ? 'is paused' : 'was paused already'}: ${reason}.`,
        };
      }),
    );

  provider
    .command('resume')
    .description('Call a provider again, whoever asked for the pause; what waits starts within seconds.')
    .argument('<provider>', 'its name, such as bfl')
    .action(
      answering(desk, async (services, name: string) => {
        await checkKnown(services, name);
        const wasPaused = await services.pauses.resume(name, actor());
        return {
          document: { provider: name, paused: false },
          text: wasPaused ? `${name} is served again.` : `${name} was not paused.`,
        };
      }),
    );

  provider
    .command('list')
    .description(
      'All providers: which have a key, which are paused and why, what waits, how many failed today.',
    )
    .action(
      answering(desk, async (services) => {
        const providers = await providersOf(services, desk.env);
        return { document: { providers }, text: providersText(providers) };
      }),
    );
};

/** The providers of the catalog, and those that workers report or that have runs. */
async function providersOf(services: Services, env: NodeJS.ProcessEnv): Promise<OperatorProvider[]> {
  const { providers, models } = await catalogOf(env);
  const states = await services.providers.list(providers.map(({ name }) => name));
  return states.map((state) => providerView(state, models));
}

/** A line for each pause of a provider. */
function providersText(providers: readonly OperatorProvider[]): string {
  const rows = providers.flatMap(({ pauses, ...provider }) =>
    (pauses.length === 0 ? [undefined] : pauses).map((pause) => ({ ...provider, pause })),
  );
  return table(rows, {
    PROVIDER: ({ provider }) => provider,
    KEY: ({ has_key }) => (has_key === null ? 'unknown' : has_key ? 'yes' : 'no'),
    WAITING: ({ pressure }) => pressure.waiting.runs,
    'UNDER WAY': ({ pressure }) => pressure.under_way.runs,
    'FAILED (24 H)': ({ last_day: { requests, succeeded } }) => `${requests - succeeded} of ${requests}`,
    PAUSED: ({ pause }) => pause && `${pause.calls}s`,
    BY: ({ pause }) => pause?.asked_by,
    SINCE: ({ pause }) => pause?.since,
    UNTIL: ({ pause }) => pause && (pause.until ?? 'resumed'),
    REASON: ({ pause }) => pause?.reason,
  });
}
