import type { RegistryRulings, Ruled } from '#persistence';
import type { Command } from 'commander';
import type { Desk } from '../answer.js';
import { withRegistry } from '../open-database.js';
import { line } from '../option-values.js';

/** What an operator decides about nodes and publishers; imports and mirrors do not undo it. */
export function rulingCommands(registry: Command, desk: Desk): void {
  const rule = async (
    kind: Ruled,
    id: string,
    done: string,
    act: (rulings: RegistryRulings) => Promise<boolean>,
  ) => {
    const found = await withRegistry(desk.env, ({ rulings }) => act(rulings));
    if (!found) throw new Error(`There is no ${kind} "${id}".`);
    desk.answer({ document: { [kind]: id, done }, text: `${kind} ${id}: ${done}` });
  };

  registry
    .command('ban')
    .description('Ban a node, or with --publisher a publisher and so all of its nodes.')
    .argument('<id>', 'the node’s id')
    .option('--publisher', 'the id is a publisher’s')
    .option('--reason <text>', 'status detail of a node, which is listed', line)
    .action(async (id: string, { publisher, reason }: { publisher?: boolean; reason?: string }) => {
      const kind = kindOf(publisher);
      if (kind === 'publisher' && reason !== undefined)
        throw new Error('A publisher has no status detail: --reason is for nodes.');
      await rule(kind, id, 'banned', (rulings) => rulings.ban(kind, id, reason ?? null));
    });

  registry
    .command('unban')
    .description('End the ban of a node or publisher, also one that was imported.')
    .argument('<id>', 'the node’s id')
    .option('--publisher', 'the id is a publisher’s')
    .action(async (id: string, { publisher }: { publisher?: boolean }) => {
      const kind = kindOf(publisher);
      await rule(kind, id, 'unbanned', (rulings) => rulings.unban(kind, id));
    });

  registry
    .command('tag')
    .description('Replace the admin tags of a node; without tags there are none.')
    .argument('<id>', 'the node’s id')
    .argument('[tags...]', 'such as security-warning', lines, [])
    .option('--reset', 'the tags of the node’s record count again')
    .action(async (id: string, tags: string[], { reset }: { reset?: boolean }) => {
      if (reset && tags.length > 0) throw new Error('Give tags or --reset, not both.');
      const done = reset ? 'admin tags as in its record' : `admin tags ${tags.join(', ') || 'none'}`;
      await rule('node', id, done, (rulings) => rulings.tag(id, reset ? null : [...new Set(tags)]));
    });
}

const kindOf = (publisher: boolean | undefined): Ruled => (publisher ? 'publisher' : 'node');

const lines = (text: string, before: string[]): string[] => [...before, line(text)];
