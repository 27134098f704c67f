import type { FieldError } from '#errors';
import { camelName, type JsonContainer, type JsonIndex, pointerSegments } from '#schemas';
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

/** An object or list of the text, with the fields that are read below it and the members that it has had so far. */
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
export function misnamedFields(model: Model, index: JsonIndex): FieldError[] {
  const errors: FieldError[] = [];
  const { constants = {} } = model;
  const spelled = spellingOf(model);
  const keyOf = (name: string) => anyCase(spelled(name));
  const readings = new Map<JsonContainer, Reading>();

  const readingOf = (container: JsonContainer): Reading => {
    const known = readings.get(container);
    if (known !== undefined) return known;
    const { around, at } = container;
    let reading: Reading = { path: [], rests: readPlaces(model), had: new Set() };
    if (around !== undefined && at !== undefined) {
      const { path, rests } = readingOf(around);
      const name = typeof at === 'number' ? at : index.nameOf(at);
      const below = leadingTo(typeof name === 'number' ? String(name) : keyOf(name), rests)
        .map((rest) => (rest[0] === everything ? rest : rest.slice(1)))
        .filter(({ length }) => length > 0);
      reading = { path: [...path, name], rests: below, had: new Set() };
    }
    readings.set(container, reading);
    return reading;
  };

  for (const member of index.members) {
    const { path, rests, had } = readingOf(member.within);
    const isTop = path.length === 0;
    if (rests.length === 0 && !isTop) continue;
    const name = index.nameOf(member);
    if (isTop && Object.hasOwn(constants, name)) continue;
    const key = keyOf(name);
    const leading = leadingTo(key, rests);
    const named = leading.filter(([segment]) => segment?.key === key);
    const marks = [
      ...(named.length > 0 || (isTop && callbackField.test(name)) ? [key] : []),
      ...(leading.some(([segment]) => segment === everything) ? [`"${nameOfRow(model, name)}"`] : []),
    ];
    const isOtherCase =
      named.length > 0 && named.every(([segment]) => segment && spelled(segment.name) !== spelled(name));
    const loc = ['body', ...path, name];
    if (marks.some((mark) => had.has(mark))) errors.push({ loc, ...repeated });
    else if (isOtherCase) errors.push({ loc, ...forbidden });
    for (const mark of marks) had.add(mark);
    if (errors.length === maxErrors) break;
  }
  return errors;
}

const leadingTo = (key: string, rests: Reading['rests']): Reading['rests'] =>
  rests.filter(([segment]) => segment === everything || segment?.name === '*' || segment?.key === key);

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
