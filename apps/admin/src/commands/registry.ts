import { InvalidArgumentError } from 'commander';
import type { Answer } from '../answer.js';
import { withRegistry } from '../open-database.js';
import { line, wholeNumber } from '../option-values.js';
import type { CommandGroup } from '../program.js';
import { importNodes } from '../registry/import-nodes.js';
import { mirrorNodes } from '../registry/mirror-nodes.js';
import { progressBar } from '../registry/progress-bar.js';
import { SourcePages } from '../registry/source-pages.js';
import { moderationCommands } from './registry-moderation.js';

export const registryCommands: CommandGroup = (program, desk) => {
  const registry = program.command('registry').description('The node registry that GET /nodes lists.');

  registry
    .command('import')
    .description(
      'Create and change nodes from files: JSON Lines, a JSON array, or pages as GET /nodes has them. What a record does not carry stays as it is.',
    )
    .argument('<file...>', 'one or more files')
    .option('--dry-run', 'check everything and say what would be written, without writing')
    .action(async (files: string[], { dryRun = false }: { dryRun?: boolean }) => {
      desk.takesLong();
      const bar = progressBar(desk.status);
      const { rejected, ...counts } = await withRegistry(desk.env, ({ nodes }) =>
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
      'Bring the registry to what another one lists; the next time only changes are read. Goes on where it was cut off.',
    )
    .argument('<url>', 'address of the other registry, without /nodes', registryUrl)
    .option('--full', 'read everything again, not only changes')
    .option('--per-second <n>', 'most requests a second', wholeNumber(1, 100), 5)
    .action(async (url: string, { full = false, perSecond }: { full?: boolean; perSecond: number }) => {
      desk.takesLong();
      const bar = progressBar(desk.status);
      const { rejected, ...counts } = await withRegistry(desk.env, ({ nodes, mirrors }) =>
        mirrorNodes(
          { url, pages: new SourcePages(url, perSecond), nodes, mirrors, progress: bar.show },
          { full },
        ),
      ).finally(bar.clear);
      desk.answer(
        written(
          { url, ...counts, rejected },
          rejected.map(({ page, id, reason }) => `page ${page}, ${JSON.stringify(id)}: ${reason}`),
          `; ${counts.pages} pages were read`,
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

/** One bad record makes the finding bad; the others were written. */
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
