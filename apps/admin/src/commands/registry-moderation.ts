import type { NodeModerationRepository, Moderated } from '#persistence';
import type { Command } from 'commander';
import { actor } from '../actor.js';
import type { Desk } from '../answer.js';
import { withRegistry } from '../open-database.js';
import { line } from '../option-values.js';

/** What an operator decides about nodes and publishers; imports and mirrors do not undo it. */
export function moderationCommands(registry: Command, desk: Desk): void {
  const moderate = async (
    kind: Moderated,
    id: string,
    done: string,
    act: (moderation: NodeModerationRepository) => Promise<boolean>,
  ) => {
    const found = await withRegistry(desk.env, ({ moderation }) => act(moderation));
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
      await moderate(kind, id, 'banned', (moderation) => moderation.ban(kind, id, reason ?? null, actor()));
    });

  registry
    .command('unban')
    .description('End the ban of a node or publisher, also one that was imported.')
    .argument('<id>', 'the node’s id')
    .option('--publisher', 'the id is a publisher’s')
    .action(async (id: string, { publisher }: { publisher?: boolean }) => {
      const kind = kindOf(publisher);
      await moderate(kind, id, 'unbanned', (moderation) => moderation.unban(kind, id, actor()));
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
      await moderate('node', id, done, (moderation) =>
        moderation.tag(id, reset ? null : [...new Set(tags)], actor()),
      );
    });
}

const kindOf = (publisher: boolean | undefined): Moderated => (publisher ? 'publisher' : 'node');

const lines = (text: string, before: string[]): string[] => [...before, line(text)];
