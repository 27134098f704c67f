/** A JSON literal that is written exactly so: `3.0` keeps its zero, a 64-bit id keeps its digits. */
export class Verbatim {
  constructor(private readonly literal: string) {}

  toJSON(): string {
    return `\uE000${this.literal}\uE000`;
  }
}

export function jsonText(value: object): string {
  return JSON.stringify(value).replace(/"\uE000([^"\uE000]*)\uE000"/g, '$1');
}

/** The digits of the first integer field of that name in a JSON text; a number would lose some above 2^53. */
export function numberLiteral(text: string, field: string): string | undefined {
  return new RegExp(`"${field}"\\s*:\\s*(-?\\d+)`).exec(text)?.[1];
}
