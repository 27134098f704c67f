import { OutboxRepository, ProviderPauseRepository, ProviderReader, type ProviderState } from '#persistence';
import { routerProviderSegment } from '#schemas';
import { InvalidArgumentError } from 'commander';
import { actor } from '../actor.js';
import type { Answer } from '../answer.js';
import { withWorkspaces } from '../open-database.js';
import { line } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { table } from '../table.js';

export const providerCommands: CommandGroup = (program, desk) => {
  const provider = program.command('provider').description('Submissions to providers.');
  const withPauses = <T>(use: (pauses: ProviderPauseRepository) => Promise<T>): Promise<T> =>
    withWorkspaces(desk.env, (_workspaces, database) => use(new ProviderPauseRepository(database)));

  provider
    .command('pause')
    .description('Submit nothing more to a provider: its runs wait, and those under way are polled on.')
    .argument('<name>', 'the provider', providerName)
    .option('--reason <text>', 'shown by "provider list"', line, 'paused by an operator')
    .action(async (name: string, { reason }: { reason: string }) => {
      const fresh = await withPauses((pauses) => pauses.pause(name, reason, actor()));
      desk.answer({
        document: { provider: name, paused: true, reason },
        text: `${name} ${fresh ? 'is paused' : 'was paused already'}: ${reason}.`,
      });
    });

  provider
    .command('resume')
    .description('Call a provider again, whoever asked for the pause; what waits starts within seconds.')
    .argument('<name>', 'the provider', providerName)
    .action(async (name: string) => {
      const wasPaused = await withPauses((pauses) => pauses.resume(name, actor()));
      desk.answer({
        document: { provider: name, paused: false },
        text: wasPaused ? `${name} is served again.` : `${name} was not paused.`,
      });
    });

  provider
    .command('list')
    .description('Providers that are paused or have live runs.')
    .action(async () =>
      desk.answer(
        await withWorkspaces(desk.env, async (_workspaces, database) => {
          const pauses = new ProviderPauseRepository(database);
          const reader = new ProviderReader(database, new OutboxRepository(database), pauses);
          return listAnswer(await reader.list([]));
        }),
      ),
    );
};

function providerName(text: string): string {
  if (!routerProviderSegment.safeParse(text).success)
    throw new InvalidArgumentError('It must be a provider’s name, such as bfl.');
  return text;
}

function listAnswer(providers: readonly ProviderState[]): Answer {
  return {
    document: {
      providers: providers.map(({ provider, pauses, load }) => ({
        provider,
        pauses: pauses.map(({ calls, askedBy, since, until, reason }) => ({
          calls,
          asked_by: askedBy,
          since,
          until,
          reason,
        })),
        waiting: load.waiting.runs,
        under_way: underWay(load),
      })),
    },
    text: table([
      ['PROVIDER', 'WAITING', 'UNDER WAY', 'PAUSED', 'BY', 'SINCE', 'UNTIL', 'REASON'],
      ...providers.flatMap(({ provider, load, pauses }) => {
        const counts = [provider, String(load.waiting.runs), String(underWay(load))];
        return pauses.length === 0
          ? [[...counts, '-', '-', '-', '-', '-']]
          : pauses.map(({ calls, askedBy, since, until, reason }) => [
              ...counts,
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

const underWay = ({ submitting, running, copying }: ProviderState['load']): number =>
  submitting.runs + running.runs + copying.runs;
