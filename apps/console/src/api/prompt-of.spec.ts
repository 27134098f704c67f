import { expect, it } from '@jest/globals';
import { promptOf } from './prompt-of.ts';

it.each([
  [{ prompt: ' A fox ', text: 'other' }, 'A fox'],
  [{ promptText: 'A fox', promptImage: 'https://a.example/1.png' }, 'A fox'],
  [{ input: { prompt: 'A fox' }, parameters: { n: 1 } }, 'A fox'],
  [{ input: 'A fox' }, 'A fox'],
  [
    {
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'A fox?' },
      ],
    },
    'A fox?',
  ],
  [{ contents: [{ parts: [{ text: 'A fox' }, { inlineData: { data: 'aGk=' } }] }] }, 'A fox'],
  [
    {
      content: [
        { type: 'text', text: 'A fox' },
        { type: 'image_url', image_url: { url: 'u' } },
      ],
    },
    'A fox',
  ],
  [{ input: 'https://a.example/1.png' }, undefined],
  [{ seed: 1, image: 'data:image/png;base64,aGk=' }, undefined],
  [[], undefined],
])('of %j is %s', (input, prompt) => expect(promptOf(input)).toBe(prompt));
