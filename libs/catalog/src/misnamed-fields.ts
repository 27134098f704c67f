import type { FieldError } from '#errors';
import { camelName, pointerSegments, walkJson } from '#schemas';
import { anyCase, callbackField } from './accepted-input.js';
import { type Model, oncePerModel } from './model.js';
import { pricePointers } from './price.js';
import { nameOfRow } from './spelling.js';
import { forbidden, repeated } from './vocabulary.js';

const maxErrors = 100;

/** A name on the way to a field, and what all of its spellings have in common. */
interface Segment {
  name: string;
  key: string;
}

/** The fields that are read below an object or list of the text, and the members that it has had so far. */
interface Reading {
  path: readonly (string | number)[];
  rests: readonly (readonly Segment[])[];
  had: Set<string>;
}

/** Everything below is read, as for the number of tokens. */
const everything: Segment = { name: '**', key: '**' };

/**
 * Fields that the price or a refusal reads, and that the provider may read otherwise than the parsed body says: one that
 * is given twice or in both spellings, since parsers take the first or the last, and one in another case, since some parsers ignore case.
 */
export function misnamedFields(model: Model, bytes: Uint8Array): FieldError[] {
  const errors: FieldError[] = [];
  const { constants = {} } = model;
  const spelled = spellingOf(model);
  const root: Reading = { path: [], rests: readPlaces(model), had: new Set() };
  walkJson<Reading>(bytes, root, (around, { name, isElement, isContainer }) => {
    if (errors.length >= maxErrors || (isElement && !isContainer)) return undefined;
    const isTop = around.path.length === 0;
    if (isTop && Object.hasOwn(constants, name)) return undefined;
    const key = isElement ? name : anyCase(spelled(name));
    const leading = around.rests.filter(
      ([segment]) => segment === everything || segment?.name === '*' || segment?.key === key,
    );
    const named = leading.filter(([segment]) => segment?.key === key);
    if (!isElement) {
      const marks = [
        ...(named.length > 0 || (isTop && callbackField.test(name)) ? [key] : []),
        ...(leading.some(([segment]) => segment === everything) ? [`"${nameOfRow(model, name)}"`] : []),
      ];
      const isOtherCase =
        named.length > 0 && named.every(([segment]) => segment && spelled(segment.name) !== spelled(name));
      const loc = ['body', ...around.path, name];
      if (marks.some((mark) => around.had.has(mark))) errors.push({ loc, ...repeated });
      else if (isOtherCase) errors.push({ loc, ...forbidden });
      for (const mark of marks) around.had.add(mark);
    }
    if (!isContainer) return undefined;
    const rests = leading.map((rest) => (rest[0] === everything ? rest : rest.slice(1)));
    const path = [...around.path, isElement ? Number(name) : name];
    return { path, rests: rests.filter(({ length }) => length > 0), had: new Set() };
  });
  return errors;
}

const spellingOf = ({ takesBothSpellings }: Model): ((name: string) => string) =>
  takesBothSpellings ? camelName : (name) => name;

/** The places that are read; those of the members that name the model are checked by their values. */
const readPlaces = oncePerModel((model): Segment[][] => {
  const { price, variants, refusedPointers, constants = {} } = model;
  const spelled = spellingOf(model);
  const placesOf = (pointers: readonly string[]): Segment[][] =>
    pointers.map((pointer) =>
      pointerSegments(pointer).map((name) => ({ name, key: anyCase(spelled(name)) })),
    );
  const counted = [price, ...price.plus, ...price.reported]
    .flatMap(({ times }) => times)
    .flatMap((factor) => ('tokens' in factor ? [factor.tokens] : []));
  return [
    ...placesOf([...new Set(counted)]).map((place) => [...place, everything]),
    ...placesOf([
      ...new Set([
        ...pricePointers(price),
        ...variants.flatMap(({ contains }) => contains),
        ...refusedPointers,
      ]),
    ]).filter(({ length }) => length > 0),
  ].filter(([first]) => first && !Object.hasOwn(constants, first.name));
});
