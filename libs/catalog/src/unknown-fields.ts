import type { UnknownField } from '#errors';
import type { JsonSchema } from './json-schema.js';
import { type Model, oncePerSchema } from './model.js';
import { distanceWithin } from './nearest-ids.js';

/** Names in headers are limited to these characters, because callers choose them. */
const plainName = /^[A-Za-z0-9_.-]{1,64}$/;
const maxListed = 10;
/** A body may have thousands of fields, and each one costs a comparison with every field of the schema. */
const maxCompared = 50;
const maxEdits = 2;

/**
 * Up to ten top-level fields that the schema does not name and that resemble one it does, which is most likely a
 * typo. The provider may know other fields, so the input is accepted all the same.
 */
export function unknownFields(model: Model, body: Readonly<Record<string, unknown>>): UnknownField[] {
  const known = knownNames(model);
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  if (unknown.length === 0) return [];
  return unknown
    .filter((name) => plainName.test(name))
    .slice(0, maxCompared)
    .flatMap((name) => {
      const suggestion = similar(name, known);
      const isBoth = suggestion !== undefined && model.takesBothSpellings && bare(suggestion) === bare(name);
      return suggestion === undefined || isBoth || Object.hasOwn(body, suggestion)
        ? []
        : [{ name, suggestion }];
    })
    .slice(0, maxListed);
}

/** The most similar known name. Undefined if none is similar: names that differ only in a number are not. */
function similar(name: string, known: ReadonlyMap<string, string>): string | undefined {
  const wanted = bare(name);
  let best: { suggestion: string; distance: number } | undefined;
  for (const [suggestion, plain] of known) {
    if (!plainName.test(suggestion)) continue;
    if (plain !== wanted && withoutDigits(plain) === withoutDigits(wanted)) continue;
    // A short name resembles too many others.
    const limit = Math.min(maxEdits, Math.floor(Math.min(plain.length, wanted.length) / 4));
    const distance = distanceWithin(wanted, plain, limit);
    if (distance !== undefined && distance < (best?.distance ?? Infinity)) best = { suggestion, distance };
  }
  return best?.suggestion;
}

/** The form in which names are compared: `imageUrl` and `image_url` have the same. */
const bare = (name: string): string => name.replaceAll(/[_.-]/g, '').toLowerCase();
const withoutDigits = (name: string): string => name.replaceAll(/\d/g, '');

/** The top-level fields of the schema and of its branches, each with its bare form. */
const knownNames = oncePerSchema(({ input }): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  const read = ({ properties = {}, allOf = [], anyOf = [], oneOf = [] }: JsonSchema): void => {
    for (const name of Object.keys(properties)) names.set(name, bare(name));
    for (const branch of [...allOf, ...anyOf, ...oneOf]) read(branch);
  };
  read(input);
  return names;
});
