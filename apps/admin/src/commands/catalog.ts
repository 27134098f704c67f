import { builtInDirectories, type CatalogProblem, checkCatalog, loadCatalog } from '#catalog';
import { providerList } from '#providers';
import type { CommandGroup } from '../program.js';

export const catalogCommands: CommandGroup = (program, desk) => {
  const catalog = program.command('catalog').description('The catalog of models.');

  catalog
    .command('check')
    .description(
      'Check the built-in catalog, or what it becomes with the rows of a directory; needs no database.',
    )
    .argument('[directory]', 'rows that add to, replace or hide built-in ones')
    .action(async (directory: string | undefined) => {
      const directories = [...builtInDirectories(), ...(directory === undefined ? [] : [directory])];
      const problems = await checkCatalog({ directories, providers: providerList.map(({ name }) => name) });
      if (problems.length > 0) {
        desk.answer({ document: { problems }, text: problems.map(problemLine).join('\n'), bad: true });
        return;
      }
      const { models } = await loadCatalog({ directories });
      desk.answer({
        document: { models: models.length, problems },
        text: `${models.length} models, no problems.`,
      });
    });
};

/** `file#pointer: reason` on one line; a problem of the whole file has no pointer. */
export const problemLine = ({ file, pointer, reason }: CatalogProblem): string =>
  `${file}${pointer && `#${pointer}`}: ${reason.replaceAll(/\s+/g, ' ').trim()}`;
