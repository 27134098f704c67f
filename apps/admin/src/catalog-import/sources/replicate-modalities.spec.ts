import { expect, it } from '@jest/globals';
import type { JsonSchema } from '#catalog';
import type { Modality } from '../modalities.js';
import { replicateModalities } from './replicate-modalities.js';

const text: JsonSchema = { type: 'string' };
const file: JsonSchema = { type: 'string', format: 'uri' };
const files: JsonSchema = { type: 'array', items: file };
const prompt = { prompt: text };
interface Case {
  properties: Record<string, JsonSchema>;
  required: string[];
  output: JsonSchema;
  example: unknown;
  text: string;
}
const known: Case = { properties: prompt, output: files, required: ['prompt'], example: undefined, text: '' };

it.each<[string, Case, Modality[], Modality[]]>([
  ['the example', { ...known, example: ['https://files.example/out-0.png?x=1'] }, ['text'], ['image']],
  [
    'the listed file formats',
    { ...known, properties: { ...prompt, output_format: { enum: ['wav', 'mp3'] } } },
    ['text'],
    ['audio'],
  ],
  [
    'the description of the output',
    { ...known, output: { ...file, description: 'The mesh.' } },
    ['text'],
    ['3d'],
  ],
  ['the description of the model', { ...known, text: 'Animates a photo' }, ['text'], ['video']],
  ['a text as its output', { ...known, output: { type: 'array', items: text } }, ['text'], ['text']],
  [
    'required fields before others',
    {
      ...known,
      properties: { ...prompt, song_input: file, mask: file },
      required: ['song_input'],
      text: 'Makes a photo',
    },
    ['audio', 'text', 'image'],
    ['image'],
  ],
])('are told by %s', (_name, { properties, required, ...facts }, read, made) => {
  const input: JsonSchema = { type: 'object', properties, required };
  expect(replicateModalities({ ...facts, input })).toEqual({ in: read, out: made });
});

it.each<[string, JsonSchema]>([
  ['files of an unknown kind', files],
  ['numbers', { type: 'array', items: { type: 'number' } }],
])('are absent for an output of %s', (_name, output) => {
  const input: JsonSchema = { type: 'object', properties: prompt };
  expect(replicateModalities({ input, output, example: undefined, text: '' })).toBe(undefined);
});
