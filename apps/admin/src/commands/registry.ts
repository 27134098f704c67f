import type { Moderated } from '#persistence';
import { type Command, InvalidArgumentError } from 'commander';
import type { Answer, Desk } from '../answer.js';
import { type Services, withServices } from '../open-database.js';
import { line } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { importNodes } from '../registry/import-nodes.js';
import { mirrorNodes } from '../registry/mirror-nodes.js';
import { progressBar } from '../registry/progress-bar.js';
import { SourcePages } from '../registry/source-pages.js';
import { unknownName } from '../unknown-name.js';

export const registryCommands: CommandSetup = (registry, desk) => {
  registry
    .command('import')
    .description(
      'Create and update nodes from files: JSON Lines, a JSON array, or pages of GET /nodes. Fields that a record omits are unchanged.',
    )
    .argument('<file...>', 'one or more files')
    .option('--dry-run', 'check everything and report what would be written, without writing')
    .action(async (files: string[], { dryRun = false }: { dryRun?: boolean }) => {
      desk.takesLong();
      const bar = progressBar(desk.status);
      const { rejected, ...counts } = await withServices(desk.env, ({ nodes }) =>
        importNodes(files, nodes, { dryRun, progress: bar.show }),
      ).finally(bar.clear);
      desk.answer(
        written(
          { dry_run: dryRun, ...counts, rejected },
          rejected.map(({ file, line: number, reason }) => `${file}:${number}: ${reason}`),
          dryRun ? '; nothing was written' : '',
        ),
      );
    });

  registry
    .command('mirror')
    .description(
      'Copy the nodes of another registry. Later runs read only changes, and an interrupted run is resumed.',
    )
    .argument('<url>', 'address of the other registry, without /nodes', registryUrl)
    .option('--full', 'read all nodes again instead of only changes')
    .option('--per-second <n>', 'maximum number of requests per second', wholeNumber(1, 100), 5)
    .action(async (url: string, { full = false, perSecond }: { full?: boolean; perSecond: number }) => {
      desk.takesLong();
      const bar = progressBar(desk.status);
      const { rejected, ...counts } = await withServices(desk.env, ({ nodes, mirrors }) =>
        mirrorNodes(
          { url, pages: new SourcePages(url, perSecond), nodes, mirrors, progress: bar.show },
          { full },
        ),
      ).finally(bar.clear);
      desk.answer(
        written(
          { url, ...counts, rejected },
          rejected.map(({ page, id, reason }) => `page ${page}, ${JSON.stringify(id)}: ${reason}`),
          `; ${counts.pages} pages read`,
        ),
      );
    });

  moderationCommands(registry, desk);
};

interface Counts {
  read: number;
  created: number;
  changed: number;
  rejected: readonly object[];
  [more: string]: unknown;
}

/** The result of an import or mirror. One rejected record makes the exit code 1; the others were written. */
function written(counts: Counts, rejections: readonly string[], end: string): Answer {
  const { read, created, changed, rejected } = counts;
  const unchanged = read - created - changed - rejected.length;
  return {
    document: { ...counts, unchanged, rejected },
    text: [
      ...rejections.map((rejection) => rejection.replaceAll(/\s+/g, ' ').trim()),
      `${read} records: ${created} nodes created, ${changed} changed, ${unchanged} unchanged, ${rejected.length} rejected${end}.`,
    ].join('\n'),
    bad: rejected.length > 0,
  };
}

function registryUrl(text: string): string {
  const url = line(text)
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\/nodes$/, '');
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new InvalidArgumentError('Expected an http or https URL.');
}

/** An operator's decisions about nodes and publishers. Imports and mirrors do not revert them. */
function moderationCommands(registry: Command, desk: Desk): void {
  const moderate = async (
    kind: Moderated,
    id: string,
    done: string,
    act: (services: Services) => Promise<boolean>,
  ) => {
    await withServices(desk.env, async (services) => {
      if (!(await act(services))) throw unknownName(kind, id, await services.moderation.ids(kind));
    });
    desk.answer({ document: { [kind]: id, done }, text: `${kind} ${id}: ${done}` });
  };

  registry
    .command('ban')
    .description('Ban a node, or with --publisher a publisher and all of its nodes.')
    .argument('<id>', 'id of the node')
    .option('--publisher', 'the id is that of a publisher')
    .option('--reason <text>', 'status detail of the node, visible in listings', line)
    .action(async (id: string, { publisher, reason }: { publisher?: boolean; reason?: string }) => {
      const kind = kindOf(publisher);
      if (kind === 'publisher' && reason !== undefined)
        throw new Error('Publishers have no status detail. Use --reason only for nodes.');
      await moderate(kind, id, 'banned', ({ moderation, actor }) =>
        moderation.ban(kind, id, reason ?? null, actor),
      );
    });

  registry
    .command('unban')
    .description('Lift the ban of a node or publisher, including an imported one.')
    .argument('<id>', 'id of the node')
    .option('--publisher', 'the id is that of a publisher')
    .action(async (id: string, { publisher }: { publisher?: boolean }) => {
      const kind = kindOf(publisher);
      await moderate(kind, id, 'unbanned', ({ moderation, actor }) => moderation.unban(kind, id, actor));
    });

  registry
    .command('tag')
    .description('Replace the admin tags of a node. Without tags, all are removed.')
    .argument('<id>', 'id of the node')
    .argument('[tags...]', 'such as security-warning', lines, [])
    .option('--reset', 'restore the tags from the node’s record')
    .action(async (id: string, tags: string[], { reset }: { reset?: boolean }) => {
      if (reset && tags.length > 0) throw new Error('Give tags or --reset, not both.');
      const done = reset ? 'admin tags as in its record' : `admin tags ${tags.join(', ') || 'none'}`;
      await moderate('node', id, done, ({ moderation, actor }) =>
        moderation.tag(id, reset ? null : [...new Set(tags)], actor),
      );
    });
}

const kindOf = (publisher: boolean | undefined): Moderated => (publisher ? 'publisher' : 'node');

const lines = (text: string, before: string[]): string[] => [...before, line(text)];
