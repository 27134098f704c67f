import { routerModelId } from '#schemas';
import { z } from 'zod';

export const model = routerModelId.describe('Model id: provider and model, joined by a slash.');

/** Agents fill optional arguments with null or an empty text; both count as omitted. */
export const optional = <Shape extends z.ZodType>(shape: Shape) =>
  z.preprocess((value) => (value === null || value === '' ? undefined : value), shape.optional()).optional();

export const runInput = z
  .record(z.string(), z.unknown())
  .describe('The input of the model, as describe_model shows it.');
