import { expect, it } from '@jest/globals';
import { GoogleGenAI, type Part } from '@google/genai';
import OpenAI, { toFile } from 'openai';
import { failOnLeftovers, sharedSystem, transports } from '../harness/index.js';
import { tinyImage } from './tiny-image.js';

const [transport = 'postgres'] = transports();
const system = sharedSystem(transport);

const typesOf = async (events: AsyncIterable<{ type: string }>) => {
  const types: string[] = [];
  for await (const { type } of events) types.push(type);
  return [...new Set(types)];
};

it('the official client openai streams pictures, speech and transcripts, which are billed by the usage at their end', async () => {
  const caller = await system.caller();
  const baseURL = `${system.gateways[0]?.url}/openai/v1`;
  const { images, audio } = new OpenAI({ baseURL, apiKey: caller.key });
  const file = await toFile(Buffer.from('RIFF....WAVE'), 'a.wav');
  const picture = { model: 'gpt-image-2', prompt: 'a bridge', stream: true, partial_images: 2 } as const;
  const edit = { ...picture, image: await toFile(tinyImage, 'otter.png', { type: 'image/png' }) };
  const spoken = {
    model: 'gpt-4o-mini-tts',
    voice: 'ash',
    input: 'Good day',
    stream_format: 'sse',
  } as const;
  expect(await typesOf(await images.generate(picture))).toEqual([
    'image_generation.partial_image',
    'image_generation.completed',
  ]);
  expect(await typesOf(await images.edit(edit))).toEqual([
    'image_edit.partial_image',
    'image_edit.completed',
  ]);
  const heard = audio.transcriptions.create({ model: 'gpt-4o-transcribe', file, stream: true });
  expect(await typesOf(await heard)).toEqual(['transcript.text.delta', 'transcript.text.done']);
  const said = await (await audio.speech.create(spoken)).text();
  expect(said).toMatch(/^event: speech\.audio\.delta\n[^]*event: speech\.audio\.done\ndata: .*"usage"/);
  await system.ended(caller);
  const rows = await system.sql<{ model: string; basis: string }>(
    `SELECT model, basis FROM audit_record WHERE workspace_id = $1 AND billed_micros > 0 ORDER BY run_id`,
    [caller.workspaceId],
  );
  expect(rows).toEqual(
    ['gpt-image-2', 'gpt-image-2-edits', 'gpt-4o-transcribe', 'gpt-4o-mini-tts'].map((name) => ({
      model: `openai/${name}`,
      basis: 'reported',
    })),
  );
});

const pictures = (from: readonly Part[] = []) => from.flatMap(({ inlineData }) => inlineData?.data ?? []);

it('the official client @google/genai streams pictures, which are billed by the usage at their end', async () => {
  const caller = await system.caller();
  const baseUrl = `${system.gateways[0]?.url}/gemini`;
  const { models } = new GoogleGenAI({ apiKey: caller.key, httpOptions: { baseUrl } });
  const asked = { model: 'gemini-3-pro-image', contents: 'a bridge' };
  const { candidates: [whole] = [] } = await models.generateContent(asked);
  const parts: Part[] = [];
  for await (const { candidates: [answer] = [] } of await models.generateContentStream(asked))
    parts.push(...(answer?.content?.parts ?? []));
  expect(pictures(parts)).toEqual(pictures(whole?.content?.parts));
  expect(pictures(parts)).toHaveLength(1);
  await system.ended(caller);
  const [first, second, ...others] = await system.sql<{ billed: string; basis: string }>(
    `SELECT billed_micros AS billed, basis FROM audit_record WHERE workspace_id = $1`,
    [caller.workspaceId],
  );
  expect([first?.basis, Number(first?.billed) > 0, second, others]).toEqual(['reported', true, first, []]);
});

failOnLeftovers();
