import { RouterError } from '#errors';
import type { PipeTransform } from '@nestjs/common';
import type { z } from 'zod';

/** Parses query parameters by their shape. A parameter that does not fit is named in a 400, `invalid_input`. */
export class QueryPipe<Shape extends z.ZodObject> implements PipeTransform {
  constructor(private readonly shape: Shape) {}

  transform(query: unknown): z.output<Shape> {
    const parsed = this.shape.safeParse(query);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new RouterError('invalid_input', `${issue?.path.join('.')} ${issue?.message}.`);
  }
}
