import type { Model } from '#catalog';
import { camelName, pointerSegments } from '#schemas';
import type { Order } from '../../apps/simulator/src/prices/order.js';

type Value = string | number | boolean | null | Value[] | { [name: string]: Value };
export type Body = Record<string, Value>;

/** A body, and how the provider may read it. */
export interface Tried {
  kind: string;
  text: string;
  readings: Body[];
}

/** Numbers in forms that JSON.stringify never writes. */
const literals = ['-0', '1e1', '0.5e1', '1E400', '5.0', '0.0000000001', '20000000000000000000001'];

const numbers = [0.001, -1, 0, 0.5, 1, 1.5, 2, 3, 7, 10, 15, 30, 60, 1000, 2 ** 31, 1e9];
const written = ['0.001', '1', '5', '10', '10s', ' 10', '1e1', '-5', '007', '+9', '1000000'];
const words = ['', ' ', 'auto', 'dearest', '4K', '1080P'];
const others: Value[] = [null, true, false, [], {}, [1], ['x'], { url: 'https://a.example' }];
const hostile: Value[] = [...numbers, ...written, ...words, ...others];

const marker = '"__literal__"';
const twin = '__twin__';

/** Every body of a model whose priced fields hold values that can be read in more than one way. */
export function bodiesOf(model: Model, order: Order, priced: readonly string[]): Tried[] {
  const base = { ...model.constants, ...(model.example as Body) };
  const places = [...new Set([...order.fields.keys(), ...priced])].filter(
    (place) => place !== '' && !Object.hasOwn(model.constants ?? {}, pointerSegments(place)[0] ?? ''),
  );
  return places
    .flatMap((place) => {
      const known = [...(order.fields.get(place)?.values ?? [])] as Value[];
      const values = [...hostile, ...known, ...recased(known), ...longerLists(base, place)];
      const [small, large] = extremes(order.fields.get(place)?.use, known);
      return [
        ...values.map((value) => plain('value', placed(base, place, value))),
        ...literals.map((literal) => {
          const text = JSON.stringify(placed(base, place, '__literal__')).replace(marker, literal);
          return { kind: 'value', text, readings: [JSON.parse(text) as Body] };
        }),
        ...[
          [small, large],
          [large, small],
        ].flatMap(([first = null, second = null]) => [
          ...beside('twice', base, place, first, second, (name) => name),
          ...beside('another case', base, place, first, second, (name) => name.toUpperCase()),
          ...(model.takesBothSpellings
            ? beside('another spelling', base, place, first, second, otherSpelling)
            : []),
        ]),
        ...(model.takesBothSpellings ? known.map((value) => respelled(base, place, value)) : []),
      ];
    })
    .concat(twoFields(base, order), inThePrompt(base, order), elsewhere(model, base));
}

/** Options that a provider may accept in any case. */
const recased = (known: readonly Value[]): Value[] =>
  known.flatMap((value) => (typeof value === 'string' ? [value.toUpperCase(), value.toLowerCase()] : []));

const plain = (kind: string, body: Body): Tried => ({ kind, text: JSON.stringify(body), readings: [body] });

/** The cheapest and the most expensive known value of a field. */
function extremes(use: string | undefined, known: readonly Value[]): [Value, Value] {
  if (use === 'units') return [known[0] ?? 1, known.at(-1) ?? 10];
  if (use === 'choice') return [known[0] ?? null, known.at(-1) ?? null];
  if (use === 'text') return ['a', 'a'.repeat(500)];
  return [null, 'https://a.example/x'];
}

/** A list with more elements than the example has. */
function longerLists(base: Body, place: string): Value[] {
  const value = at(base, place);
  return Array.isArray(value) ? [Array.from({ length: 20 }, () => value[0] ?? null)] : [];
}

/** The field beside another member with a confusable name, and that member alone. */
function beside(
  kind: string,
  base: Body,
  place: string,
  first: Value,
  second: Value,
  rename: (name: string) => string,
): Tried[] {
  const name = pointerSegments(place).at(-1) ?? '';
  const other = rename(name);
  if (name === '*' || (other === name && kind !== 'twice')) return [];
  const around = place.slice(0, place.lastIndexOf('/'));
  const both = placed(placed(base, place, first), `${around}/${twin}`, second);
  const text = JSON.stringify(both).replaceAll(`"${twin}":`, `${JSON.stringify(other)}:`);
  const readings = [placed(base, place, first), placed(base, place, second)];
  return [{ kind, text, readings }];
}

const otherSpelling = (name: string): string =>
  camelName(name) === name
    ? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : camelName(name);

/** Each name on the path to the field in its other spelling. */
function respelled(base: Body, place: string, value: Value): Tried {
  const reading = placed(base, place, value);
  const names = new Set(pointerSegments(place));
  const text = JSON.stringify(reading, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(
          Object.entries(member).map(([name, each]) => [names.has(name) ? otherSpelling(name) : name, each]),
        )
      : member,
  );
  return { kind: 'another spelling', text, readings: [reading] };
}

/** Files and tools of a text model in the other spelling. */
function elsewhere(model: Model, base: Body): Tried[] {
  if (!model.takesBothSpellings || !Object.hasOwn(base, 'contents')) return [];
  const file = { file_data: { file_uri: 'gs://a/b', mime_type: 'video/mp4' } };
  const inline = { inline_data: { data: 'AAAA', mime_type: 'audio/wav' } };
  return [
    ...[file, inline].map((part) => plain('another spelling', { ...base, contents: [{ parts: [part] }] })),
    plain('another spelling', { ...base, cached_content: 'cachedContents/1' }),
  ];
}

function twoFields(base: Body, order: Order): Tried[] {
  return order.alternatives.flatMap((places) =>
    places.flatMap((low) =>
      places
        .filter((high) => high !== low)
        .flatMap((high) =>
          [
            [1, 10],
            [3, 15],
            ['5', '15'],
            [29, 289],
            ['480p', '1080p'],
            ['720P', '1920*1080'],
            ['1k', '2k'],
            [30_000, 120_000],
          ].map(([small = null, large = null]) =>
            plain('two fields', placed(placed(base, low, small), high, large)),
          ),
        ),
    ),
  );
}

function inThePrompt(base: Body, order: Order): Tried[] {
  return order.flags.flatMap(({ in: place, names }) =>
    names.flatMap((name) =>
      ['10', '12', '289', '1080p', '4k'].map((value) =>
        plain('in the prompt', placed(base, place, `A heron --${name} ${value}`)),
      ),
    ),
  );
}

function at(body: Value, place: string): Value | undefined {
  return pointerSegments(place).reduce<Value | undefined>(
    (value, name) =>
      typeof value === 'object' && value !== null
        ? (value as Record<string, Value>)[name === '*' ? 0 : name]
        : undefined,
    body,
  );
}

/** The body with a value at a path; `*` is the first element. */
function placed(body: Body, place: string, value: Value): Body {
  const set = (around: Value | undefined, [name, ...rest]: readonly string[]): Value => {
    if (name === undefined) return value;
    if (name === '*') {
      const list = Array.isArray(around) ? around : [];
      return [set(list[0], rest), ...list.slice(1)];
    }
    const members = typeof around === 'object' && around !== null && !Array.isArray(around) ? around : {};
    return { ...members, [name]: set(members[name], rest) };
  };
  return set(body, pointerSegments(place)) as Body;
}
