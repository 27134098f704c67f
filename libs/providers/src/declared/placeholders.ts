import type { ProviderRow } from './shape.js';
import { namesIn, textsIn } from './templates.js';

interface Problem {
  path: (string | number)[];
  message: string;
}

/** What the fields of a declaration mean together: every value in braces exists where it stands. */
export function placeholderProblems(row: ProviderRow): Problem[] {
  const { handle = {}, submit, poll, fetch, cancel, auth } = row;
  const kept = Object.entries(handle);
  const required = kept.flatMap(([name, field]) => ('optional' in field && field.optional ? [] : [name]));
  const isKept = (name: string) => name === 'base' || Object.hasOwn(handle, name);
  const urls = kept.flatMap(([name, field]) => ('url' in field && field.url ? [name] : []));
  return [
    ...unknown(['submit', 'url'], submit.url, (name) => name === 'base' || name.startsWith('upstream.')),
    ...misplaced(['submit', 'url'], submit.url, []),
    ...Object.entries(auth).flatMap(([name, value]) =>
      unknown(['auth', name], value, (each) => each === 'secret'),
    ),
    ...(poll === undefined ? withoutPoll(row) : []),
    ...(poll !== undefined && kept.length === 0
      ? [{ path: ['handle'], message: 'a poll needs what it finds the generation by' }]
      : []),
    ...Object.entries({ poll, fetch, cancel }).flatMap(([step, call]) => {
      if (call === undefined) return [];
      const alternatives = [call.url].flat();
      return [
        ...alternatives.flatMap((url) => [
          ...unknown([step, 'url'], url, isKept),
          ...misplaced([step, 'url'], url, urls),
        ]),
        ...(alternatives.some((url) =>
          namesIn(url).every((name) => name === 'base' || required.includes(name)),
        )
          ? []
          : [
              {
                path: [step, 'url'],
                message: 'every address needs a value that may be missing; add one that does not',
              },
            ]),
        ...textsIn(call.body ?? null).flatMap((text) => unknown([step, 'body'], text, isKept)),
      ];
    }),
  ];
}

const withoutPoll = ({ handle, fetch, cancel }: ProviderRow): Problem[] =>
  Object.entries({ handle, fetch, cancel })
    .filter(([, part]) => part !== undefined)
    .map(([name]) => ({
      path: [name],
      message: 'stands beside poll only; without it the submit reply is the result',
    }));

const unknown = (path: string[], template: string, known: (name: string) => boolean): Problem[] =>
  namesIn(template)
    .filter((name) => !known(name))
    .map((name) => ({ path, message: `there is no {${name}} here` }));

/** An address starts with the base, or is a URL of the handle: nothing else may choose where our key goes. */
const misplaced = (path: string[], url: string, urls: readonly string[]): Problem[] =>
  /^\{base\}(\/|$)/.test(url) || urls.some((name) => url === `{${name}}`)
    ? []
    : [{ path, message: 'an address starts with {base}/ or is a handle field with url: true' }];
