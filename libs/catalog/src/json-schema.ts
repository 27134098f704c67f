import { z } from 'zod';
import type { Json } from '#providers';

/**
 * The part of JSON Schema 2020-12 that a model row may use. It has no `$ref`, because the same object is
 * placed inside an OpenAPI document, where a reference would resolve against another root (YAML aliases
 * serve instead); no type arrays, so that every error names one type; `oneOf` only with a discriminator.
 */
export interface JsonSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'null';
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  enum?: Json[];
  const?: Json;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: SchemaFormat;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  discriminator?: { propertyName: string };
  default?: Json;
  examples?: Json[];
  deprecated?: boolean;
}

/** `binary` only describes; the other formats are checked. */
const schemaFormats = ['uri', 'uuid', 'date-time', 'binary'] as const;
type SchemaFormat = (typeof schemaFormats)[number];

const size = z.int().min(0).optional();
const bound = z.number().optional();

export const jsonSchema: z.ZodType<JsonSchema> = z.lazy(() =>
  z
    .strictObject({
      type: z.enum(['object', 'array', 'string', 'integer', 'number', 'boolean', 'null']).optional(),
      title: z.string().optional(),
      description: z.string().optional(),
      properties: z.record(z.string(), jsonSchema).optional(),
      required: z.array(z.string()).min(1).optional(),
      additionalProperties: z.union([z.boolean(), jsonSchema]).optional(),
      items: jsonSchema.optional(),
      minItems: size,
      maxItems: size,
      enum: z.array(z.json()).min(1).optional(),
      const: z.json().optional(),
      minimum: bound,
      maximum: bound,
      exclusiveMinimum: bound,
      exclusiveMaximum: bound,
      multipleOf: z.number().positive().optional(),
      minLength: size,
      maxLength: size,
      pattern: z.string().optional(),
      format: z.enum(schemaFormats).optional(),
      anyOf: z.array(jsonSchema).min(2).optional(),
      oneOf: z.array(jsonSchema).min(2).optional(),
      discriminator: z.strictObject({ propertyName: z.string().min(1) }).optional(),
      default: z.json().optional(),
      examples: z.array(z.json()).optional(),
      deprecated: z.boolean().optional(),
    })
    .refine((schema) => (schema.oneOf === undefined) === (schema.discriminator === undefined), {
      message: 'oneOf and discriminator stand together; write anyOf for a union without a tag',
    })
    .refine((schema) => schema.anyOf === undefined || schema.oneOf === undefined, {
      message: 'one union a schema: anyOf or oneOf',
    }),
);
