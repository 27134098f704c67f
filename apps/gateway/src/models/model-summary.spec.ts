import { describe, expect, it } from '@jest/globals';
import { maxSummaryBytes, type ModelDocument, summaryOf } from './model-summary.js';

const documentOf = (schema: object, description = '**Paint**\n\nPaints.'): ModelDocument => ({
  info: { title: 'acme/paint', description },
  'x-service-input-modalities': ['text'],
  'x-service-output-modalities': ['image'],
  'x-service-price': { text: '$0.03' },
  'x-service-stream': { member: 'stream' },
  paths: {
    '/v2/models/acme/paint': {
      post: {
        requestBody: { content: { 'application/json': { schema, example: { prompt: 'a fox' } } } },
        responses: { '200': { content: { 'image/png': {} } } },
      },
    },
  },
});
const inputsOf = (properties: object, required: string[] = []) =>
  summaryOf(documentOf({ type: 'object', properties, required })).inputs;

describe('summaryOf', () => {
  it('says what a model takes, gives and costs', () => {
    expect(summaryOf(documentOf({ type: 'object', properties: { prompt: { type: 'string' } } }))).toEqual({
      model: 'acme/paint',
      about: 'Paint: Paints.',
      takes: ['text'],
      gives: ['image'],
      price: '$0.03',
      output: 'image/png',
      inputs: { prompt: 'string' },
      example: { prompt: 'a fox' },
    });
  });

  it.each([
    [{ type: 'integer', minimum: 64, maximum: 2048, default: 1024 }, 'integer, 64 to 2048, default 1024'],
    [{ type: 'number', maximum: 1 }, 'number, at most 1'],
    [{ enum: ['a', 'b', null] }, 'a|b'],
    [{ anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] }, 'string, at most 9 characters'],
    [{ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 4 }, 'array of string, 1 to 4 items'],
    [
      { type: 'object', properties: { url: { type: 'string' }, at: { type: 'number' } }, required: ['url'] },
      '{url: string; at?: number}',
    ],
    [{ description: 'Anything.' }, 'any. Anything.'],
  ])('writes %j as %s', (schema, text) => expect(inputsOf({ field: schema })).toEqual({ field: text }));

  it('puts required fields first, and leaves out those that the service adds or nobody needs', () => {
    const properties = {
      model: { const: 'paint' },
      search: { enum: [null] },
      none: { type: 'null' },
      speed: { enum: ['standard', null] },
      stream: { type: 'boolean' },
      seed: { type: 'integer' },
      prompt: { type: 'string' },
      size: { enum: ['1K'] },
    };
    expect(Object.entries(inputsOf(properties, ['prompt', 'model', 'size']))).toEqual([
      ['prompt', 'required string'],
      ['size', 'required 1K'],
      ['seed', 'integer'],
    ]);
  });

  it.each([
    [1, false, false],
    [30, true, true],
    [300, true, true],
    [3000, true, true],
  ])('fits with %s long fields, and names those without room', (count, isShortened, hasNamesOnly) => {
    const field = { type: 'string', description: 'é'.repeat(500), enum: ['x'.repeat(50), 'y'.repeat(50)] };
    const properties = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`field_${index}`, field]),
    );
    const summary = summaryOf(
      documentOf({ type: 'object', properties, required: ['field_0'] }, 'é'.repeat(5_000)),
    );
    expect(Buffer.byteLength(JSON.stringify(summary))).toBeLessThanOrEqual(maxSummaryBytes);
    expect(Object.keys(summary.inputs)).toContain('field_0');
    expect([summary.notes !== undefined, summary.more_inputs !== undefined]).toEqual([
      isShortened,
      hasNamesOnly,
    ]);
  });

  it('fits even if the required fields alone are too many', () => {
    const names = Array.from({ length: 500 }, (_, index) => `field_${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const summary = summaryOf(documentOf({ type: 'object', properties, required: names }));
    expect(summary).toEqual({
      model: 'acme/paint',
      inputs: {},
      notes: expect.stringContaining('full: true'),
    });
  });
});
