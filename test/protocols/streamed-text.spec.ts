import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadCatalog, type Model } from '#catalog';
import {
  answers,
  chatCompletions,
  completions,
  type EventForm,
  messages,
  responses,
} from '../../apps/simulator/src/event-forms.js';

type Places = readonly (string | readonly string[])[];

/** The parts of the console that join texts, which need no browser. */
interface Joining {
  EventParser: new () => { push: (chunk: string) => { event: string; data: string }[] };
  TextJoiner: new (places: Places) => { push: (data: string) => void; text: () => string };
  streamedText: (events: string, places: Places) => string;
}

let joining: Joining;
let models: readonly Model[];
beforeAll(async () => {
  // The types of the console need a browser's, which this code doesn't have.
  const files = ['event-stream', 'streamed-text'].map((name) => `../../apps/console/src/api/${name}.ts`);
  const loaded = await Promise.all(files.map((file) => import(file) as Promise<object>));
  joining = Object.assign({}, ...loaded) as Joining;
  ({ models } = await loadCatalog());
});

const placesOf = (id: string): Places => models.find((model) => model.id === id)?.stream?.text ?? [];

function joinedInChunks(text: string, length: number, places: Places): string {
  const parser = new joining.EventParser();
  const joiner = new joining.TextJoiner(places);
  const chunks = text.match(new RegExp(`[^]{1,${length}}`, 'gu')) ?? [];
  for (const { data } of chunks.flatMap((chunk) => parser.push(chunk))) joiner.push(data);
  return joiner.text();
}

const words = 'A fox 🦊 crossed\nthe bridge; "slowly".\r\nThen it rained.';
const other = 'Another answer.';

const forms: [name: string, id: string, form: EventForm, replyOf: (texts: string[]) => object][] = [
  [
    'OpenAI Responses',
    'openai/gpt-5.5',
    responses,
    (texts) => ({
      status: 'completed',
      output: texts.map((text, id) => ({ id, type: 'message', content: [{ type: 'output_text', text }] })),
      usage: { output_tokens: 9 },
    }),
  ],
  [
    'OpenAI Chat Completions',
    'openai/gpt-5.5-chat-completions',
    chatCompletions,
    (texts) => ({
      id: 'chatcmpl',
      choices: texts.map((content, index) => ({
        index,
        message: { role: 'assistant', content },
        finish_reason: 'stop',
      })),
      usage: { completion_tokens: 9 },
    }),
  ],
  [
    'Anthropic Messages',
    'anthropic/claude-haiku-4-5-20251001',
    messages,
    (texts) => ({
      id: 'msg',
      content: texts.map((text) => ({ type: 'text', text })),
      usage: { input_tokens: 1, output_tokens: 9 },
    }),
  ],
  [
    'chat completions',
    'openrouter/',
    completions,
    (texts) => ({
      id: 'gen',
      choices: texts.map((content, index) => ({
        index,
        message: { role: 'assistant', content },
        finish_reason: 'stop',
      })),
      usage: { completion_tokens: 9 },
    }),
  ],
  [
    'Gemini',
    'vertexai/gemini-2.5-flash',
    answers,
    (texts) => ({
      candidates: texts.map((text, index) => ({
        index,
        finishReason: 'STOP',
        content: { role: 'model', parts: [{ text }] },
      })),
      usageMetadata: { promptTokenCount: 1, totalTokenCount: 9 },
    }),
  ],
];

describe.each(forms)('the text of %s', (_, id, { events, error }, replyOf) => {
  const model = () =>
    (id.endsWith('/') ? models.find((each) => each.provider === 'openrouter' && each.stream)?.id : id) ?? '';
  const streamOf = (texts: string[]) => events(replyOf(texts) as Record<string, unknown>);
  const bytesOf = (texts: string[]) =>
    streamOf(texts)
      .map(({ bytes }) => bytes)
      .join('');

  it('is the text of the whole reply, wherever the chunks end', () => {
    const places = placesOf(model());
    for (const text of [bytesOf([words]), bytesOf([words]).replaceAll(/\r?\n/g, '\r\n')]) {
      expect(joining.streamedText(text, places)).toBe(words);
      for (const length of [1, 2, 3, 7, 64, text.length])
        expect(joinedInChunks(text, length, places)).toBe(words);
    }
  });

  it('keeps the texts of several answers apart', () => {
    expect(joining.streamedText(bytesOf([words, other]), placesOf(model()))).toBe(`${words}\n\n${other}`);
  });

  it('is what arrived before an error or the end of a broken stream', () => {
    const sent = streamOf([words]);
    const half = sent.findLastIndex((each) => each.text !== undefined);
    const arrived = sent
      .slice(0, half)
      .map(({ bytes }) => bytes)
      .join('');
    const known = joining.streamedText(arrived, placesOf(model()));
    expect(known.length).toBeGreaterThan(0);
    expect(words.startsWith(known)).toBe(true);
    expect(joining.streamedText(`${arrived}${error.bytes}data: {"cut`, placesOf(model()))).toBe(known);
  });
});

it('of two places of one text, the first with a text counts, and other events have none', () => {
  const events = [{ a: { 'x/y': 'one ' }, b: 'ONE' }, { b: 'two' }, { c: 3 }, '[DONE]', [null]].map(
    (data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  );
  expect(joining.streamedText(events.join(''), [['/a/x~1y', '/b']])).toBe('one \n\ntwo');
});

interface Vector {
  name: string;
  text: string;
  events: { event?: string; data: string }[];
}

const vectors = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'server-sent-events.json'), 'utf8'),
) as Vector[];

it.each(vectors)('the console reads $name, in chunks of any length', ({ text: given, events }) => {
  // The decoder of the response removes it.
  const text = given.replace(/^\uFEFF/, '');
  const expected = events.map(({ event = 'message', data }) => ({ event, data }));
  for (let length = 1; length <= text.length + 1; length += 1) {
    const parser = new joining.EventParser();
    const chunks = text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
    expect(chunks.flatMap((chunk) => parser.push(chunk))).toEqual(expected);
  }
});
