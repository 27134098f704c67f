import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Reply } from './partner.js';

/** Values by the JSON pointer of their place; undefined takes the place away. */
type Changes = Record<`/${string}`, unknown>;

/**
 * The true replies of a partner as recorded: the same files that its adapter is tested with, so that the two sides
 * do not share a misunderstanding. `protocol` names the folder of one of several.
 */
export function recorded(provider: string, protocol = ''): (name: string, changes?: Changes) => Reply {
  const folder = join(root(), 'libs/providers/src/providers', provider, 'fixtures', protocol);
  return (name, changes = {}) => {
    const { reply } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as { reply: Reply };
    const places = Object.entries(changes);
    if (places.length === 0) return reply;
    const body = (typeof reply.body === 'string' ? JSON.parse(reply.body) : reply.body) as object;
    for (const [pointer, value] of places) put(body, pointer, value);
    return { ...reply, body };
  };
}

function root(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    if (dirname(folder) === folder) throw new Error(`no package.json above ${import.meta.dirname}`);
    folder = dirname(folder);
  }
  return folder;
}

function put(body: object, pointer: string, value: unknown): void {
  const path = pointer.slice(1).split('/');
  const last = path.pop() ?? '';
  let place = body as Record<string, unknown>;
  for (const segment of path) place = (place[segment] ??= {}) as Record<string, unknown>;
  if (value === undefined) Reflect.deleteProperty(place, last);
  else place[last] = value;
}
