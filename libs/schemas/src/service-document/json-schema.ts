import { z } from 'zod';

/** JSON Schema 2020-12, as OpenAPI 3.1 embeds it: the keywords that our shapes come out with. */
export interface JsonSchema {
  $ref?: string;
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  examples?: unknown[];
}

/**
 * Shapes are written from the caller's side: an answer may gain fields, so objects stay open. Limits that
 * come from the number format, and names that are always strings, say nothing and are left out.
 */
export const jsonSchemaOptions = {
  io: 'input',
  override: ({ jsonSchema }) => {
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    delete jsonSchema.propertyNames;
    const { example } = jsonSchema;
    if (example === undefined) return;
    delete jsonSchema['example'];
    jsonSchema.examples = [example];
  },
} as const satisfies z.core.ToJSONSchemaParams;

export function inlineSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...inline } = z.toJSONSchema(schema, jsonSchemaOptions);
  return inline as JsonSchema;
}
