import {
  type Database,
  OutboxRepository,
  ProviderPauseRepository,
  ProviderReader,
  type ProviderState,
} from '#persistence';
import { actor } from '../actor.js';
import type { Answer } from '../answer.js';
import { catalogOf } from '../known-models.js';
import { withWorkspaces } from '../open-database.js';
import { line } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';
import { unknownName } from '../unknown-name.js';

export const providerCommands: CommandGroup = (program, desk) => {
  const provider = program.command('provider').description('Submissions to providers.');
  const withKnown = <T>(name: string, use: (pauses: ProviderPauseRepository) => Promise<T>): Promise<T> =>
    withWorkspaces(desk.env, async (_workspaces, database) => {
      const known = (await states(database, desk.env)).map((state) => state.provider);
      if (!known.includes(name)) throw unknownName('provider', name, known);
      return use(new ProviderPauseRepository(database));
    });

  provider
    .command('pause')
    .description('Submit nothing more to a provider: its runs wait, and those under way are polled on.')
    .argument('<provider>', 'its name, such as bfl')
    .option('--reason <text>', 'shown by "provider list"', line, 'paused by an operator')
    .action(async (name: string, { reason }: { reason: string }) => {
      const fresh = await withKnown(name, (pauses) => pauses.pause(name, reason, actor()));
      desk.answer({
        document: { provider: name, paused: true, reason },
        text: `${name} ${fresh ? 'is paused' : 'was paused already'}: ${reason}.`,
      });
    });

  provider
    .command('resume')
    .description('Call a provider again, whoever asked for the pause; what waits starts within seconds.')
    .argument('<provider>', 'its name, such as bfl')
    .action(async (name: string) => {
      const wasPaused = await withKnown(name, (pauses) => pauses.resume(name, actor()));
      desk.answer({
        document: { provider: name, paused: false },
        text: wasPaused ? `${name} is served again.` : `${name} was not paused.`,
      });
    });

  provider
    .command('list')
    .description(
      'All providers: which have a key, which are paused and why, what waits, how many failed today.',
    )
    .action(async () =>
      desk.answer(
        await withWorkspaces(desk.env, async (_workspaces, database) =>
          listAnswer(await states(database, desk.env)),
        ),
      ),
    );
};

/** Those of the catalog, and those that workers report or that have runs. */
async function states(database: Database, env: NodeJS.ProcessEnv): Promise<ProviderState[]> {
  const { providers } = await catalogOf(env);
  const outbox = new OutboxRepository(database);
  const reader = new ProviderReader(database, outbox, new ProviderPauseRepository(database));
  return reader.list(providers.map(({ name }) => name));
}

function listAnswer(providers: readonly ProviderState[]): Answer {
  return {
    document: {
      providers: providers.map((state) => ({
        provider: state.provider,
        has_key: state.hasKey,
        slots: state.slots,
        pauses: state.pauses.map(({ calls, askedBy, since, until, reason }) => ({
          calls,
          asked_by: askedBy,
          since,
          until,
          reason,
        })),
        waiting: state.load.waiting.runs,
        under_way: underWay(state),
        last_day: { runs: ended(state), failed: failed(state) },
      })),
    },
    text: table([
      [
        'PROVIDER',
        'KEY',
        'WAITING',
        'UNDER WAY',
        'FAILED (24 H)',
        'PAUSED',
        'BY',
        'SINCE',
        'UNTIL',
        'REASON',
      ],
      ...providers.flatMap((state) => {
        const facts = [
          state.provider,
          state.hasKey === null ? 'unknown' : state.hasKey ? 'yes' : 'no',
          String(state.load.waiting.runs),
          String(underWay(state)),
          `${failed(state)} of ${ended(state)}`,
        ];
        return state.pauses.length === 0
          ? [[...facts, '-', '-', '-', '-', '-']]
          : state.pauses.map(({ calls, askedBy, since, until, reason }) => [
              ...facts,
              `${calls}s`,
              askedBy,
              since,
              until ?? 'resumed',
              reason,
            ]);
      }),
    ]),
  };
}

const underWay = ({ load: { submitting, running, copying } }: ProviderState): number =>
  submitting.runs + running.runs + copying.runs;

const ended = ({ outcomes }: ProviderState): number =>
  outcomes.reduce((sum, { lastDay }) => sum + lastDay, 0);

const failed = ({ outcomes }: ProviderState): number =>
  outcomes.reduce((sum, { bucket, lastDay }) => sum + (bucket === null ? 0 : lastDay), 0);
