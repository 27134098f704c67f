import type { IncomingHttpHeaders } from 'node:http';

/** The request headers that vendors read as a part of the input. The credentials of a call are never among them. */
export const inputHeaderNames = ['anthropic-beta', 'anthropic-version', 'openai-beta'] as const;

/** The names and values of such headers. */
export type InputHeaders = Partial<Record<(typeof inputHeaderNames)[number], string>>;

/** For each header that a provider takes, the beginnings of values that have a price of their own. */
export type TakenHeaders = Partial<Record<keyof InputHeaders, { priced: readonly string[] }>>;

/** Values that say nothing, because providers assume them. */
const usual: InputHeaders = { 'anthropic-version': '2023-06-01' };

/** The input headers of a call, except those with their usual value. */
export const inputHeadersOf = (headers: IncomingHttpHeaders): InputHeaders =>
  Object.fromEntries(
    inputHeaderNames.flatMap((name) => {
      const value = headers[name]?.toString();
      return value === undefined || value === usual[name] ? [] : [[name, value]];
    }),
  );

/** The first value in the headers that has a price of its own at this provider, or for this row. */
export function pricedValueIn(
  headers: InputHeaders,
  taken: TakenHeaders = {},
  ofRow: Partial<Record<keyof InputHeaders, readonly string[]>> = {},
): string | undefined {
  for (const name of inputHeaderNames) {
    const priced = [...(taken[name]?.priced ?? []), ...(ofRow[name] ?? [])];
    const values = headers[name]?.split(',').map((value) => value.trim()) ?? [];
    const found = values.find((value) =>
      priced.some((beginning) => value.toLowerCase().startsWith(beginning)),
    );
    if (found !== undefined) return `${name}: ${found}`;
  }
  return undefined;
}

/** The headers that this provider takes. */
export const headersFor = (headers: InputHeaders, taken: TakenHeaders = {}): InputHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name in taken));
