/**
 * The origin that stands for the service's own in the examples of the built-in rows. The console's folder `samples`
 * has the files. Its photographs are in the public domain: the portrait by NASA, the others dedicated to it by CC0.
 */
const standIn = 'https://router.example/';

/** The URL of a sample file in a row. */
export const sampleUrl = (file: string): string => `${standIn}console/samples/${file}`;

/** The value, with the sample files in it at the service's own URL. */
export function atOrigin<Value>(value: Value, baseUrl = '/'): Value {
  const base = baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`;
  return value === undefined
    ? value
    : (JSON.parse(JSON.stringify(value), (_, each: unknown) =>
        typeof each === 'string' && each.startsWith(standIn) ? base + each.slice(standIn.length) : each,
      ) as Value);
}
