import { EventParser } from './event-stream.ts';

/** The places of a text in events, as JSON pointers. In an inner list, the first place with a text counts. */
export type TextPlaces = readonly (string | readonly string[])[];

interface Found {
  /** Tells the texts of an answer apart, such as two choices, or the reasoning and the answer. */
  of: string;
  text: string;
}

/** Joins the text in a provider's events. Different texts of an answer become paragraphs, in the order of their first words. */
export class TextJoiner {
  private readonly places: string[][][];
  private readonly texts = new Map<string, string>();

  constructor(places: TextPlaces) {
    this.places = places.map((each) => [each].flat().map(segmentsOf));
  }

  /** `data` of one event. Anything but JSON has no text. */
  push(data: string): void {
    const event = parsed(data);
    for (const alternatives of this.places) {
      for (const place of alternatives) {
        const found = textsAt(event, place, `${numbersOf(event)} ${place.join('/')}`);
        for (const { of, text } of found) this.texts.set(of, (this.texts.get(of) ?? '') + text);
        if (found.length > 0) break;
      }
    }
  }

  text(): string {
    return [...this.texts.values()].join('\n\n');
  }
}

/** The joined text of a whole stream. */
export function streamedText(events: string, places: TextPlaces): string {
  const parser = new EventParser();
  const joiner = new TextJoiner(places);
  // Some servers close the connection without the blank line after the last event.
  for (const { data } of [...parser.push(events), ...parser.push('\n\n')]) joiner.push(data);
  return joiner.text();
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

const segmentsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

/** `output_index` and similar members, which say to which part of the answer an event belongs. */
const numbersOf = (event: unknown): string =>
  Object.entries(Object(event) as object)
    .filter(([name, value]) => /(^|_)index$/.test(name) && typeof value === 'number')
    .map(([name, value]) => `${name}=${value}`)
    .join();

function textsAt(value: unknown, [segment, ...rest]: readonly string[], of: string): Found[] {
  if (segment === undefined) return typeof value === 'string' && value !== '' ? [{ of, text: value }] : [];
  if (segment === '*') {
    const elements: unknown[] = Array.isArray(value) ? value : [];
    return elements.flatMap((element, position) => {
      const { index = position } = Object(element) as { index?: unknown };
      return textsAt(element, rest, `${of} ${String(index)}`);
    });
  }
  const object = Object(value) as Record<string, unknown>;
  return Object.hasOwn(object, segment) ? textsAt(object[segment], rest, of) : [];
}
