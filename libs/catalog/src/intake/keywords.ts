import type { JsonSchema, SchemaType } from '../json-schema.js';

/** Keywords that say nothing about a single type, besides annotations. */
export const typeless = ['enum', 'const', 'allOf', 'anyOf', 'oneOf', 'not', 'discriminator'] as const;

const numbers: readonly SchemaType[] = ['integer', 'number'];

/** The types that a keyword says something about; about a value of any other type it says nothing. */
export const subjects = {
  properties: ['object'],
  required: ['object'],
  additionalProperties: ['object'],
  minProperties: ['object'],
  maxProperties: ['object'],
  items: ['array'],
  minItems: ['array'],
  maxItems: ['array'],
  uniqueItems: ['array'],
  minimum: numbers,
  maximum: numbers,
  exclusiveMinimum: numbers,
  exclusiveMaximum: numbers,
  multipleOf: numbers,
  minLength: ['string'],
  maxLength: ['string'],
  pattern: ['string'],
} as const satisfies Partial<Record<keyof JsonSchema, readonly SchemaType[]>>;

export const annotations = ['title', 'description', 'default', 'examples', 'deprecated', 'format'] as const;

/** They hold schemas for references to point at, and assert nothing where they stand. */
export const containers = new Set(['$defs', 'definitions', 'components']);

/** Read elsewhere in the intake, or said to nobody: of OpenAPI and JSON Schema, but no part of the one form. */
export const dropped = new Set([
  '$ref',
  'type',
  'nullable',
  'example',
  '$schema',
  '$id',
  'id',
  '$comment',
  'xml',
  'externalDocs',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
]);

/** They assert something that the one form cannot say; leaving them out would accept what they refuse. */
export const unsupported = new Set([
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
  'prefixItems',
  'contains',
  'minContains',
  'maxContains',
  'if',
  'then',
  'else',
  'contentSchema',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
]);
