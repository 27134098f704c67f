type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** How the provider counts a billed quantity. */
interface Units {
  /** The value if the submission doesn't name one. */
  usual: number;
  /** The minimum billed. */
  least?: number;
  /** The maximum; the provider caps or rejects higher values. */
  most?: number;
  /** The value if the choice is left to the provider: -1, "auto", or anything else that isn't a number above zero. */
  open?: number;
  /** The unit it rounds up to; 0 for exact billing. */
  step?: number;
  flags?: Flags;
}

/** Options inside a text, such as `--rs 1080p`, and the place of that text. */
interface Flags {
  in: string;
  names: readonly string[];
}

/** The role of a field in the price, for tests that try values. */
type FieldUse = 'units' | 'choice' | 'count' | 'text';

/** A submission as the provider's billing reads it: leniently, so that a bill is never lower than a strict reader's. */
export class Order {
  /** The fields read so far, with the values that the price list names. */
  readonly fields = new Map<string, { use: FieldUse; values: readonly Json[] }>();
  /** Groups of fields that name the same quantity. */
  readonly alternatives: string[][] = [];
  readonly flags: Flags[] = [];

  constructor(
    private readonly body: Json,
    readonly atMs = Date.now(),
  ) {}

  /** The largest value among the given fields, each `[place, how many make a unit]`. */
  units(places: string | readonly (readonly [string, number])[], how: Units): number {
    const { usual, least = 1, most = Infinity, open = usual, step = 1 } = how;
    const all = typeof places === 'string' ? ([[places, 1]] as const) : places;
    this.note(
      all.map(([place]) => place),
      'units',
      [least, usual, ...(most === Infinity ? [] : [most])],
    );
    const named = all.flatMap(([place, per]) => {
      const values = this.at(place).filter((value) => value !== null);
      const sum = values.reduce<number>((total, value) => total + numberOf(value), 0);
      return values.length === 0 ? [] : [Number.isNaN(sum) ? open : sum / per];
    });
    const flagged = this.flagged(how.flags)
      .map(numberOf)
      .filter((value) => !Number.isNaN(value));
    const value = Math.max(...flagged, ...(named.length === 0 ? [usual] : named));
    return Math.min(most, Math.max(least, step === 0 ? value : Math.ceil(value / step) * step));
  }

  /** The most expensive of the options that the fields name. Unknown options count as the usual one. */
  choice(
    places: string | readonly string[],
    options: Readonly<Record<string, number>>,
    usual: string,
    flags?: Flags,
  ): number {
    const all = [places].flat();
    this.note(all, 'choice', Object.keys(options));
    const named = [...all.flatMap((place) => this.at(place)), ...this.flagged(flags)]
      .map((value) => (isPlain(value) ? optionOf(String(value), options) : undefined))
      .filter((value) => value !== undefined);
    return Math.max(...(named.length === 0 ? [optionOf(usual, options) ?? 0] : named));
  }

  /** Number of values at these places. A list counts by its elements. */
  count(...places: string[]): number {
    for (const place of places) this.note([place], 'count', []);
    return places
      .flatMap((place) => this.at(place))
      .reduce<number>(
        (sum, value) => sum + (Array.isArray(value) ? value.length : Number(isThere(value))),
        0,
      );
  }

  has(...places: string[]): boolean {
    return this.count(...places) > 0;
  }

  letters(place: string): number {
    this.note([place], 'text', []);
    return this.at(place).reduce<number>((sum, value) => sum + (isPlain(value) ? lettersOf(value) : 0), 0);
  }

  /**
   * Tokens of all texts, one per byte. A member named in `leading` refers to outside content and counts as `most`, but
   * a list of tools only if one of them is the provider's own.
   */
  tokens(most: number, leading: readonly string[]): number {
    const names = new Set(leading.map(plainName));
    const read = (value: Json, leads: (name: string, member: Json) => boolean): number => {
      if (typeof value === 'string') return Buffer.byteLength(value);
      if (typeof value !== 'object' || value === null) return 0;
      return Object.entries(value).reduce((sum, [name, member]) => {
        if (leads(plainName(name), member)) return sum + most;
        return sum + read(member, isToolList(name) ? hasHostedTool : leads);
      }, 0);
    };
    return Math.min(
      most,
      read(this.body, (name, member) =>
        isToolList(name) ? hasHostedTool(name, member) : names.has(name) && isThere(member),
      ),
    );
  }

  private note(places: readonly string[], use: FieldUse, values: readonly Json[]): void {
    for (const place of places) this.fields.set(place, { use, values });
    if (places.length > 1) this.alternatives.push([...places]);
  }

  private flagged(flags: Flags | undefined): string[] {
    if (!flags) return [];
    this.flags.push(flags);
    const option = new RegExp(`--(?:${flags.names.join('|')})\\s+(\\S+)`, 'gi');
    return this.at(flags.in).flatMap((text) =>
      typeof text === 'string' ? [...text.matchAll(option)].map(([, value = '']) => value) : [],
    );
  }

  private at(place: string): Json[] {
    let reached: Json[] = [this.body];
    for (const name of place.split('/').slice(1)) {
      reached = reached.flatMap((value) => {
        if (typeof value !== 'object' || value === null) return [];
        if (name === '*') return Object.values(value);
        return Object.hasOwn(value, name) ? [(value as Record<string, Json>)[name] ?? null] : [];
      });
    }
    return reached;
  }
}

const isToolList = (name: string): boolean => name === 'tools' || name === 'functions';

/** Tools that vendors run: searches, fetches, code, files, images and remote servers. */
const hosted = /search|fetch|urlcontext|code|mcp|image|retrieval|maps/i;

const hasHostedTool = (name: string, value: Json): boolean =>
  isToolList(name) &&
  [value].flat().some((tool) => {
    if (typeof tool !== 'object' || tool === null || Array.isArray(tool)) return false;
    const kinds = typeof tool['type'] === 'string' ? [tool['type']] : Object.keys(tool);
    return kinds.some((kind) => hosted.test(plainName(kind)));
  });

const isPlain = (value: Json): value is string | number | boolean =>
  value !== null && typeof value !== 'object';

const lettersOf = (value: string | number | boolean): number => Array.from(String(value)).length;

const isThere = (value: Json): boolean => value !== null && value !== '' && value !== false;

const plainName = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** NaN for anything but a number above zero. */
function numberOf(value: Json): number {
  const number = typeof value === 'string' ? Number(value.trim().replace(/s$/i, '') || NaN) : value;
  return typeof number === 'number' && number > 0 ? number : NaN;
}

function optionOf(value: string, options: Readonly<Record<string, number>>): number | undefined {
  const name = Object.keys(options).find((each) => each.toLowerCase() === value.toLowerCase());
  return name === undefined ? undefined : options[name];
}

/** The price of a submission, in dollars. */
export type Bill = (order: Order) => number;

/** Bills by model ID, in which `*` matches any part. The most specific match wins. */
export type PriceList = Readonly<Record<string, Bill>>;

export const flat =
  (usd: number): Bill =>
  () =>
    usd;
