import type { Model } from './model.js';

/** Returns the place of the first model, from a place on, whose text has all words, or the number of models. */
type NextMatch = (from: number) => number;

/**
 * Finds models by words in their ids, title and description. The texts of all models are one string, because 1,800
 * short strings take five times as long to search.
 */
export class SearchIndex {
  private readonly text: string;
  /** Where the text of each model ends. */
  private readonly ends: readonly number[];

  constructor(models: readonly Model[]) {
    const texts = models.map(
      ({ id, aliases, title, description }) =>
        `${[id, ...aliases, title, description].join('\n').toLowerCase()}\n`,
    );
    this.text = texts.join('');
    let end = 0;
    this.ends = texts.map((each) => (end += each.length));
  }

  /** The words have no white space. Case does not matter. */
  matching(words: readonly string[]): NextMatch {
    // The longest word has the fewest matches.
    const [longest = '', ...others] = words
      .map((word) => word.toLowerCase())
      .toSorted((one, other) => other.length - one.length);
    return (from) => {
      for (let place = from; place < this.ends.length; place += 1) {
        const at = this.text.indexOf(longest, this.startOf(place));
        if (at === -1) break;
        place = this.placeOf(at);
        const own = this.text.slice(this.startOf(place), this.ends[place]);
        if (others.every((word) => own.includes(word))) return place;
      }
      return this.ends.length;
    };
  }

  private startOf(place: number): number {
    return this.ends[place - 1] ?? 0;
  }

  /** The place of the model whose text has the character at this offset. */
  private placeOf(offset: number): number {
    let [from, to] = [0, this.ends.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.ends[middle] ?? 0) <= offset) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
