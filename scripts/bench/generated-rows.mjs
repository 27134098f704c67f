// A catalog directory of the size and shape of one that `admin catalog import` writes: each row is a YAML file in
// JSON's notation, and its schemas are an OpenAPI document beside it. All texts are constructed.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const words = 'subject lighting camera motion texture palette seed detail frame mask region depth'.split(' ');

const sentence = (nth) =>
  Array.from({ length: 14 }, (_each, index) => words[(nth * 7 + index * 5) % words.length]).join(' ');

const text = (nth) => ({ title: `Text ${nth}`, type: 'string', description: sentence(nth) });
const number = (nth) => ({
  title: `Number ${nth}`,
  type: nth % 2 === 0 ? 'integer' : 'number',
  minimum: 0,
  maximum: 100 + nth,
  default: 10,
  description: sentence(nth),
});
const choice = (nth) => ({
  title: `Choice ${nth}`,
  enum: Array.from({ length: 3 + (nth % 9) }, (_each, index) => `${words[index]}-${nth}`),
  type: 'string',
  description: sentence(nth),
});
const size = (nth) => ({
  title: `Size ${nth}`,
  anyOf: [
    { $ref: '#/components/schemas/ImageSize' },
    { type: 'string', enum: ['square', 'portrait_4_3', 'landscape_4_3'] },
  ],
  description: sentence(nth),
});
const parts = (nth) => ({
  title: `Parts ${nth}`,
  type: 'array',
  maxItems: 20,
  items: { $ref: '#/components/schemas/Part' },
  description: sentence(nth),
});

const kinds = [text, number, choice, size, parts];

/** The number of fields of each shape: documents of 5 to 60 kB, most of them small. */
const shapes = [8, 10, 14, 20, 30, 120];

const fileSchema = {
  title: 'File',
  type: 'object',
  required: ['url'],
  properties: {
    url: { type: 'string', description: 'The address of the file.' },
    content_type: { type: 'string', description: 'The media type of the file.' },
    file_size: { type: 'integer', description: 'The size of the file in bytes.' },
  },
};

const reply = (name) => ({
  200: {
    description: 'The state.',
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  },
});

function document(nth) {
  const fields = Array.from({ length: shapes[nth % shapes.length] }, (_each, index) => [
    `${words[index % words.length]}_${index}`,
    kinds[(nth + index) % kinds.length](index),
  ]);
  const input = {
    title: 'Input',
    type: 'object',
    required: ['prompt'],
    properties: {
      prompt: { title: 'Prompt', type: 'string', minLength: 1, maxLength: 5000, description: sentence(nth) },
      num_images: { title: 'Images', type: 'integer', minimum: 1, maximum: 4, default: 1 },
      ...Object.fromEntries(fields),
    },
    'x-order': ['prompt', 'num_images', ...fields.map(([name]) => name)],
  };
  const output = {
    title: 'Output',
    type: 'object',
    required: ['images'],
    properties: {
      images: { type: 'array', items: { $ref: '#/components/schemas/File' }, description: sentence(nth) },
      seed: { type: 'integer', description: 'The seed of the run.' },
    },
  };
  return {
    openapi: '3.0.4',
    info: { title: `Constructed model ${nth}`, version: '1.0.0', description: sentence(nth) },
    components: {
      schemas: {
        Input: input,
        Output: output,
        File: fileSchema,
        ImageSize: {
          title: 'ImageSize',
          type: 'object',
          properties: {
            width: { type: 'integer', exclusiveMinimum: true, minimum: 0, maximum: 14142, default: 512 },
            height: { type: 'integer', exclusiveMinimum: true, minimum: 0, maximum: 14142, default: 512 },
          },
        },
        Part: {
          title: 'Part',
          type: 'object',
          required: ['path'],
          properties: {
            path: { type: 'string', description: 'The address of the part.' },
            scale: { type: 'number', minimum: 0, maximum: 4, default: 1 },
          },
        },
        State: {
          type: 'object',
          properties: {
            status: { type: 'string', enum: ['waiting', 'running', 'done'] },
            request_id: { type: 'string' },
          },
        },
      },
    },
    paths: Object.fromEntries(
      ['', '/requests/{id}', '/requests/{id}/status'].map((end) => [
        `/constructed/model-${nth}${end}`,
        {
          [end === '' ? 'post' : 'get']: { responses: reply(end === '/requests/{id}' ? 'Output' : 'State') },
        },
      ]),
    ),
  };
}

const row = (nth, file) => ({
  id: `fal/${idOf(nth)}`,
  aliases: [`fal-ai/constructed-${nth}/text-to-image`],
  title: `Constructed ${nth}`,
  description: `Generates images from a text with the constructed model ${nth}: ${sentence(nth)}.`,
  modalities: { in: ['text'], out: ['image'] },
  upstream: { path: `constructed/model-${nth}` },
  charges_on_policy_rejection: 'unknown',
  price: {
    usd: 0.01 + (nth % 10) / 100,
    times: [{ number: '/num_images', default: 1, max: 4 }],
    reported: [{ header: 'x-fal-billable-units', usd: 0.01 }],
    source: 'constructed for measurements',
    date: '2026-11-26',
  },
  assets: ['/images/*/url'],
  input: { $ref: `${file}#/components/schemas/Input` },
  output: {
    media_type: 'application/json',
    schema: { $ref: `${file}#/components/schemas/Output` },
    example: { images: [{ url: 'https://files.example/result.png' }] },
  },
  example: { prompt: 'A lighthouse at dusk.', num_images: 1 },
});

/** The segment of the nth row's id. */
export const idOf = (nth) => `constructed-${nth}`;

/** Writes `count` rows and their documents into a new or existing directory. */
export function writeGeneratedRows(directory, count) {
  mkdirSync(directory, { recursive: true });
  for (let nth = 0; nth < count; nth += 1) {
    writeFileSync(path.join(directory, `${idOf(nth)}.json`), JSON.stringify(document(nth), null, 2));
    writeFileSync(
      path.join(directory, `${idOf(nth)}.yaml`),
      `${JSON.stringify(row(nth, `${idOf(nth)}.json`), undefined, 2)}\n`,
    );
  }
}

// node scripts/bench/generated-rows.mjs DIRECTORY COUNT
const [, program, directory, count] = process.argv;
if (program === import.meta.filename) writeGeneratedRows(directory, Number(count));
