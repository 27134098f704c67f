import { describe, expect, it } from '@jest/globals';
import { constantsOf, fileKindOf, fileListOf, formSchema, inputSchema, labelOf } from './form-schema.ts';

describe('formSchema', () => {
  it('shows a nullable field as its non-null type', () => {
    const schema = {
      anyOf: [{ type: 'integer', minimum: 64 }, { type: 'null' }],
      description: 'Width.',
      default: null,
    };
    expect(formSchema(schema)).toEqual({ type: 'integer', minimum: 64, description: 'Width.' });
    expect(formSchema({ type: ['string', 'null'] })).toEqual({ type: 'string' });
  });

  it('names choices, and leaves out fields that the router rejects', () => {
    const { properties } = formSchema({
      type: 'object',
      patternProperties: { hook: { not: {} } },
      properties: {
        webhook_url: { not: {} },
        size: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      },
    });
    expect(Object.keys(properties ?? {})).toEqual(['size']);
    expect(properties?.['size']?.anyOf?.map(({ title }) => title)).toEqual(['Text', 'List of Text']);
  });

  it('puts a list of values before a form of several fields', () => {
    const size = { type: 'object', properties: { width: { type: 'integer' }, height: { type: 'integer' } } };
    const { anyOf } = formSchema({ anyOf: [size, { type: 'string', enum: ['square', 'portrait'] }] });
    expect(anyOf?.map(({ title }) => title)).toEqual(['square, portrait', 'Width, Height']);
  });
});

describe('inputSchema', () => {
  const schema = {
    type: 'object',
    required: ['model', 'prompt'],
    properties: {
      model: { const: 'flux' },
      prompt: { type: 'string' },
      sizes: { type: 'array', items: { type: 'integer' } },
    },
  };

  it('leaves out the members that name the model', () => {
    const { properties, required } = inputSchema(schema);
    expect([Object.keys(properties ?? {}), required]).toEqual([['prompt', 'sizes'], ['prompt']]);
    expect(constantsOf(schema)).toEqual(['model']);
  });

  it('takes placeholders from the example', () => {
    expect(inputSchema(schema, { prompt: 'A fox', sizes: [512] }).properties).toEqual({
      prompt: { type: 'string', examples: ['A fox'] },
      sizes: { type: 'array', items: { type: 'integer', examples: [512] } },
    });
  });
});

it.each([
  ['guidance_scale', 'Guidance scale'],
  ['imageUrls', 'Image URLs'],
  ['n', 'N'],
])('reads the name %s as %s', (name, label) => expect(labelOf(name)).toBe(label));

it.each([
  ['input_image', 'An image to edit: a URL or base64.', 'image'],
  ['image_url', '', 'image'],
  ['video_url', '', 'video'],
  ['audio_url', 'The audio that drives the lips.', 'audio'],
  ['model_url', 'A mesh.', '3d'],
  ['prompt', 'What the image should show.', undefined],
  ['image_size', 'A size.', undefined],
  ['callback_url', 'A URL.', undefined],
  ['first_frame_image', 'First frame of the video, as a URL.', 'image'],
  ['image_urls', 'References.', 'image'],
  ['garment', 'Image of the garment, as base64 or a URL.', 'image'],
  ['file', 'Audio or video, as a URL.', 'any'],
  ['mask', 'Of the same size. Black areas are edited.', 'image'],
])('detects the file kind of %s', (name, description, kind) =>
  expect(fileKindOf(name, { type: 'string', description })).toBe(kind),
);

describe('fileListOf', () => {
  const images = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 4 };

  it('detects a list of files, and a choice between one and a list', () => {
    const terms = { kind: 'image', min: 1, max: 4 };
    expect(fileListOf('image_urls', { ...images, description: 'References.' })).toEqual({
      ...terms,
      takesOne: false,
    });
    const either = { description: 'Images, as URLs.', anyOf: [{ type: 'string' }, images] };
    expect(fileListOf('image', either)).toEqual({ ...terms, takesOne: true });
  });

  it('leaves other lists and choices to text fields', () => {
    expect(fileListOf('stop', { type: 'array', items: { type: 'string' } })).toBeUndefined();
    expect(fileListOf('images', { type: 'array', items: { type: 'object' } })).toBeUndefined();
    const three = { anyOf: [{ type: 'string' }, images, { type: 'integer' }] };
    expect(fileListOf('images', three)).toBeUndefined();
  });
});
