import { RouterError } from '#errors';
import { momentOf } from '#schemas';
import type { PipeTransform } from '@nestjs/common';
import { z } from 'zod';

/** Parses query parameters by their shape, for a handler's argument. */
export class QueryPipe<Shape extends z.ZodObject> implements PipeTransform {
  constructor(private readonly shape: Shape) {}

  transform(query: unknown): z.output<Shape> {
    return readQuery(this.shape, query);
  }
}

/** A parameter that does not fit is named in a 400, `invalid_input`. */
export function readQuery<Shape extends z.ZodObject>(shape: Shape, query: unknown): z.output<Shape> {
  const parsed = shape.safeParse(query);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RouterError('invalid_input', `${issue?.path.join('.')} ${issue?.message}.`);
}

/** A parameter that may not be repeated. */
export const once = () => z.string({ error: 'must be given once' });

/** The page size that is served. */
export const pageSize = (text: z.ZodString, byDefault: number) =>
  text
    .regex(/^-?\d+$/, 'must be an integer')
    .default(String(byDefault))
    .meta({
      type: 'integer',
      default: byDefault,
      description: 'The page size. Above 100, 100 is served; 0 and less select the default.',
    })
    .transform((given) => (Number(given) <= 0 ? byDefault : Math.min(Number(given), maxPageSize)));

const maxPageSize = 100;

/** A point in time in a query, in any usual form of ISO 8601; a day begins at midnight UTC. */
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
