import { z } from 'zod';

/**
 * The format of an export, in lines of JSON: the heading, one line for each row, the books, and the SHA-256
 * of all lines before the last. Values are texts as Postgres writes them, so that JSON parsers cannot round
 * them.
 */
export const heading = z.object({
  format: z.literal('model-router database'),
  version: z.literal(1),
  exported_at: z.string(),
  /** The version of the Postgres server. */
  server: z.string(),
  /** The migrations that had been run. */
  migrations: z.array(z.string()),
  /** The columns of each table. Tables are exported in this order. */
  tables: z.record(z.string(), z.array(z.string())),
});
export type Heading = z.infer<typeof heading>;

export const rowLine = z.object({ table: z.string(), row: z.record(z.string(), z.string().nullable()) });

export const booksLine = z.object({
  books: z.object({
    rows: z.record(z.string(), z.number()),
    sums: z.record(
      z.string(),
      z.object({ all: z.string(), workspaces: z.record(z.string(), z.string().nullable()) }),
    ),
  }),
});

export const digestLine = z.object({ sha256: z.string() });

/** Splits bytes into lines, without their line feeds. */
export async function* linesOf(input: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const given of input) {
    const chunk = Buffer.from(given);
    let begin = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', begin)) {
      yield Buffer.concat([...rest, chunk.subarray(begin, end)]);
      rest = [];
      begin = end + 1;
    }
    if (begin < chunk.length) rest.push(chunk.subarray(begin));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
