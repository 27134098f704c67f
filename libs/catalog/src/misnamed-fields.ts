import type { FieldError } from '#errors';
import { camelName, type JsonContainer, type JsonIndex, pointerSegments } from '#schemas';
import { anyCase, callbackField } from './accepted-input.js';
import { type Model, oncePerModel } from './model.js';
import { pricePointers } from './price.js';
import { nameOfRow } from './spelling.js';
import { forbidden, repeated } from './vocabulary.js';

const maxErrors = 100;

/** A name in the path of a field, and its key, which is the same for all spellings. */
interface Segment {
  name: string;
  key: string;
}

/** An object or array of the text, with the fields that are read below it and the members seen so far. */
interface Reading {
  path: readonly (string | number)[];
  rests: readonly (readonly Segment[])[];
  had: Set<string>;
}

/** Matches everything below, as for the number of tokens. */
const everything: Segment = { name: '**', key: '**' };

/**
 * Errors of fields that the price or a rejection depends on, and that the provider may read differently from the
 * parsed body: a field that is given twice or in both spellings, because parsers use the first or the last, and a
 * field in another case, because some parsers ignore case.
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

/** The places that are read, except members that name the model, which are checked by their values. */
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
