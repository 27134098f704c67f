import { valueAt } from '#schemas';
import { type Place, type Source, type Walk } from './walk.js';

interface Target {
  schema: unknown;
  place: Place;
}

/**
 * What a reference names: a place in the same text (`#/$defs/Size`) or in a document beside the row
 * (`partner.json#/components/schemas/Input`). A text is the reason why it names nothing.
 */
export function target(reference: string, place: Place, walk: Walk): Target | string {
  const hash = reference.indexOf('#');
  const file = hash < 0 ? reference : reference.slice(0, hash);
  const pointer = hash < 0 ? '' : fragment(reference.slice(hash + 1));
  if (pointer === undefined || (pointer !== '' && !pointer.startsWith('/'))) {
    return `${reference} is no JSON pointer`;
  }
  const source = file === '' ? place.source : document(file, walk);
  if (typeof source === 'string') return source;
  const schema = valueAt(source.root, pointer);
  if (schema === undefined) return `${reference} names nothing`;
  if (place.through.includes(schema)) return `${reference} leads back to itself; a schema must end`;
  const path = pointer.split('/').slice(1);
  return {
    schema,
    place: {
      source,
      path,
      // Problems inside the row's own text are told where they stand, others where the row refers to them.
      rowPath: source.file === undefined ? [...rowRoot(place), ...path] : place.rowPath,
      depth: place.depth,
      through: [...place.through, schema],
    },
  };
}

const rowRoot = (place: Place): readonly string[] =>
  place.rowPath.slice(0, place.rowPath.length - place.path.length);

function fragment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function document(file: string, walk: Walk): Source | string {
  try {
    return { root: walk.documents(file), file };
  } catch (error) {
    return `${file}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
