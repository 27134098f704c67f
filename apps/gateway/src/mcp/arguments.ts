import { routerModelId } from '#schemas';
import { z } from 'zod';

export const model = routerModelId.describe('Model id: provider and model, joined by a slash.');

/** Agents fill optional arguments with null or an empty text; both count as omitted. */
export const optional = <Shape extends z.ZodType>(shape: Shape) =>
  z.preprocess(omitted, shape.optional()).optional();

/** Agents also write numbers and booleans as texts. Schemas show the plain type. */
export const optionalNumber = (shape: z.ZodNumber | z.ZodInt) =>
  z.preprocess((value) => omitted(fromText(value, /^-?\d+(\.\d+)?$/)), shape.optional()).optional();
export const optionalBoolean = () =>
  z.preprocess((value) => omitted(fromText(value, /^(true|false)$/i)), z.boolean().optional()).optional();

const omitted = (value: unknown): unknown => (value === null || value === '' ? undefined : value);

const fromText = (value: unknown, form: RegExp): unknown =>
  typeof value === 'string' && form.test(value.trim())
    ? (JSON.parse(value.trim().toLowerCase()) as unknown)
    : value;

/** The message has an empty text in place of an input that an agent wrote as a text of JSON. */
export const runInput = z
  .preprocess((value) => (value === '' ? {} : value), z.record(z.string(), z.unknown()))
  .describe('The input of the model, as describe_model shows it.');

/** The input of a run as a route takes it. Agents also send an object as a text of JSON. */
export function inputOf(raw: Buffer | undefined): Buffer | undefined {
  if (raw === undefined || raw[0] !== quote) return raw;
  const text: unknown = JSON.parse(raw.toString());
  return Buffer.from(String(text));
}

const quote = 0x22;
