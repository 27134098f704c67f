import { type CursorContext, openCursor, sealCursor } from '#catalog';
import { RouterError } from '#errors';
import { momentOf, type Page } from '#schemas';
import type { SigningSettings } from '#storage';
import type { PipeTransform } from '@nestjs/common';
import { z } from 'zod';

/** Parses the query parameters of a handler by their schema. */
export class QueryPipe<Shape extends z.ZodObject> implements PipeTransform {
  constructor(private readonly shape: Shape) {}

  transform(query: unknown): z.output<Shape> {
    return readQuery(this.shape, query);
  }
}

/** Throws `invalid_input`, 400, which names the first invalid parameter. */
export function readQuery<Shape extends z.ZodObject>(shape: Shape, query: unknown): z.output<Shape> {
  const parsed = shape.safeParse(query);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RouterError('invalid_input', `${issue?.path.join('.')} ${issue?.message}.`);
}

/** A parameter that may not be repeated. */
export const once = () => z.string({ error: 'must not be repeated' });

/** The page size, bounded. */
export const pageSize = (text: z.ZodString, byDefault: number) =>
  text
    .regex(/^-?\d+$/, 'must be an integer')
    .default(String(byDefault))
    .meta({
      type: 'integer',
      default: byDefault,
      description: 'Page size. Values above 100 count as 100; values below 1 select the default.',
    })
    .transform((given) => (Number(given) <= 0 ? byDefault : Math.min(Number(given), maxPageSize)));

const maxPageSize = 100;

/** A time in any common form of ISO 8601. A date stands for midnight UTC. */
export const momentQuery = (description: string) =>
  once()
    .transform((text, context) => {
      const moment = momentOf(text);
      if (moment !== null) return moment;
      context.addIssue('must be a time such as 2026-01-31 or 2026-01-31T12:00:00Z');
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', format: 'date-time', description });

/** The query of a list. */
export const pageQuery = z.object({
  cursor: once().optional().meta({
    description: '`next_cursor` of the previous page; omit it for the first page. It expires after 24 hours.',
  }),
  limit: pageSize(z.string({ error: 'must be an integer' }), 20),
});

/**
 * Reads one page of a list, after the place that its cursor seals. Reads one row more than it returns, to know
 * whether others follow.
 */
export async function listPage<Row, Entry>(
  { cursor, limit }: z.output<typeof pageQuery>,
  list: NonNullable<CursorContext['list']>,
  { SIGNING_SECRET: secrets }: SigningSettings,
  rows: {
    read: (page: { after: string | undefined; limit: number }) => Promise<Row[]>;
    placeOf: (row: Row) => string;
    entryOf: (row: Row) => Entry | Promise<Entry>;
  },
): Promise<Page<Entry>> {
  const sealing = { list, secrets, nowMs: Date.now() } as const;
  const after = cursor === undefined ? undefined : openCursor(cursor, sealing);
  const found = await rows.read({ after, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    data: await Promise.all(page.map(rows.entryOf)),
    has_more: last !== undefined,
    ...(last !== undefined && { next_cursor: sealCursor(rows.placeOf(last), sealing) }),
    limit,
  };
}
