import net from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';
import { tinyImage } from '../../clients/tiny-image.js';
import { openai } from './vendor-calls.js';

const gateway = sharedGateway();

const edits = '/openai/v1/images/edits';
const transcriptions = '/openai/v1/audio/transcriptions';

/** The files of the workspace that have not been discarded. */
const filesOf = async (workspaceId: string) =>
  gateway().database.reads.query<{ key: string; bytes: string; type: string }>(
    `SELECT key, bytes, content_type AS type FROM stored_object
      WHERE workspace_id = $1 AND delete_at > router_now() ORDER BY key`,
    [workspaceId],
  );

const post = (
  path: string,
  key: string,
  body: FormData | string | Buffer | ReadableStream,
  headers: Record<string, string> = {},
) =>
  fetch(`${gateway().url}${path}`, {
    method: 'POST',
    headers: { ...openai.credential(key), ...headers },
    body,
    signal: AbortSignal.timeout(60_000),
    ...(body instanceof ReadableStream && { duplex: 'half' as const }),
  });

type Value = string | Blob | [bytes: Blob, fileName: string];

function formOf(...fields: [name: string, value: Value][]): FormData {
  const form = new FormData();
  for (const [name, value] of fields)
    if (typeof value === 'string') form.append(name, value);
    else if (value instanceof Blob) form.append(name, value, 'a.png');
    else form.append(name, ...value);
  return form;
}

const png = () => new Blob([tinyImage], { type: 'image/png' });

const raw = (...lines: string[]) => lines.join('\r\n');
const part = (head: string, text: string) =>
  ['--b', `Content-Disposition: form-data; ${head}`, '', text] as const;

const output = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from('{"done": true}'),
} as const;

describe('a form', () => {
  it('becomes the input of a run: texts by the schema of the row, files as uploads, whatever their names', async () => {
    const { caller, workspace } = await gateway().caller();
    const form = formOf(
      ['image[]', [png(), '../../etc/passwd']],
      ['image[]', [png(), 'a".png\r\nX: y']],
      ['mask', [png(), '']],
      ['prompt', '5'],
      ['n', '2'],
      ['output_compression', '50'],
      ['model', 'gpt-image-2'],
    );
    const answering = post(edits, caller.key, form);
    const run = await gateway().admittedRun(workspace);
    expect(run.model).toBe('openai/gpt-image-2-edits');
    const link = expect.stringMatching(/^http:\/\/assets\.test\/assets\/files\/[0-9a-f-]{36}\.png\?/);
    expect(JSON.parse((await gateway().storedInput(run)).bytes.toString())).toEqual({
      image: [link, link],
      mask: link,
      prompt: '5',
      n: 2,
      output_compression: 50,
      model: 'gpt-image-2',
    });
    await gateway().finish(run, output);
    const answer = await answering;
    expect([answer.status, await answer.text()]).toEqual([200, '{"done": true}']);
    const bytes = String(tinyImage.length);
    const file = { key: expect.stringMatching(/^files\/[0-9a-f-]+\.png$/), bytes, type: 'image/png' };
    expect(await filesOf(workspace.id)).toEqual([file, file, file]);
  });

  it('whose file has no signature keeps the extension of its name, and may name its model by our id', async () => {
    const { caller, workspace } = await gateway().caller();
    const form = formOf(
      ['file', [new Blob(['no signature'], { type: 'audio/mpeg' }), 'Talk.MP3']],
      ['model', 'openai/whisper-1'],
    );
    const answering = post(transcriptions, caller.key, form);
    const run = await gateway().admittedRun(workspace);
    expect(JSON.parse((await gateway().storedInput(run)).bytes.toString())).toEqual({
      file: expect.stringMatching(/\/files\/[0-9a-f-]{36}\.mp3\?/),
      model: 'whisper-1',
    });
    await gateway().finish(run, output);
    await (await answering).text();
  });

  it('repeated with the same key joins its run, with another boundary too, and keeps the files of the first', async () => {
    const { caller, workspace } = await gateway().caller();
    const named = { 'idempotency-key': 'k' };
    const send = (prompt: string) =>
      post(edits, caller.key, formOf(['model', 'gpt-image-2'], ['image', png()], ['prompt', prompt]), named);
    const answering = send('a hat');
    const run = await gateway().admittedRun(workspace);
    const other = await send('a scarf');
    expect([other.status, other.headers.get('x-service-error-type')]).toEqual([409, 'invalid_input']);
    await gateway().finish(run, output);
    await (await answering).text();
    const retry = await send('a hat');
    expect([retry.status, retry.headers.get('idempotent-replayed'), await retry.text()]).toEqual([
      200,
      'true',
      '{"done": true}',
    ]);
    await waitFor(async () => (await filesOf(workspace.id)).length === 1, {
      withinMs: 60_000,
      what: 'the file of the retry to be discarded',
    });
  });

  const file: [string, Value] = ['file', new Blob(['RIFF....WAVE'])];
  const model: [string, Value] = ['model', 'whisper-1'];
  const audio = part('name="file"; filename="a.wav"', 'RIFF');
  const ofBoundary = { 'content-type': 'multipart/form-data; boundary=b' };

  it.each<[what: string, status: number, text: RegExp, body: FormData | string, headers?: object]>([
    ['has a rejected field', 422, /response_format: /, formOf(file, model, ['response_format', 'srt'])],
    ['has no file', 422, /file: Field required/, formOf(model)],
    ['has no model', 422, /model: Field required/, formOf(file)],
    ['has an unknown model', 404, /Did you mean whisper-1/, formOf(file, ['model', 'whisper-11'])],
    ['names a model of another path', 404, /\/openai\/v1\/responses or /, formOf(file, ['model', 'gpt-5.5'])],
    ['has nested objects', 422, /nested/, formOf(file, model, ['a[b][c]', 'x'])],
    ['has a file elsewhere', 400, /file in prompt/, formOf(model, file, ['prompt', new Blob(['x'])])],
    ['has an empty file', 400, /empty/, formOf(model, ['file', new Blob([])])],
    [
      'has too many parts',
      400,
      /150 parts/,
      formOf(file, ...Array.from({ length: 2000 }, (): [string, Value] => ['a', 'x'])),
    ],
    ['has a long text', 400, /262144 bytes of text/, formOf(file, model, ['prompt', 'x'.repeat(300_000)])],
    ['is JSON', 415, /multipart\/form-data/, '{"model":"whisper-1"}', { 'content-type': 'application/json' }],
    ['has no boundary', 400, /boundary/, 'x', { 'content-type': 'multipart/form-data' }],
    ['is empty', 400, /cut off/, '', ofBoundary],
    ['is not in parts', 400, /cut off/, 'x'.repeat(100_000), ofBoundary],
    ['is cut off in a file', 400, /cut off/, raw(...audio), ofBoundary],
    ['is cut off in a head', 400, /cut off/, raw(...audio, '--b', 'Content-Disposition: form'), ofBoundary],
    [
      'has a part without a name',
      400,
      /usable name/,
      raw(...audio, ...part('x="y"', 'x'), '--b--', ''),
      ofBoundary,
    ],
    [
      'has a large head',
      400,
      /usable name/,
      raw(...audio, ...part(`x="${'y'.repeat(100_000)}"; name="model"`, 'whisper-1'), '--b--', ''),
      ofBoundary,
    ],
  ])('that %s is %i, and keeps no file', async (_, status, text, body, headers = {}) => {
    const { caller, workspace } = await gateway().caller();
    const answer = await post(transcriptions, caller.key, body, { ...headers });
    const error = (await answer.json()) as never;
    expect([answer.status, openai.kindOf(error), openai.textOf(error)]).toEqual([
      status,
      'invalid_request_error',
      expect.stringMatching(text),
    ]);
    expect(await filesOf(workspace.id)).toEqual([]);
  });

  it('above 25 MiB is 413, with or without Content-Length', async () => {
    const { caller, workspace } = await gateway().caller();
    const body = Buffer.from(
      raw(...part('name="file"; filename="a"', 'x'.repeat(25 * 1024 * 1024)), '--b--', ''),
    );
    for (const sent of [body, new Blob([body]).stream()]) {
      const answer = await post(transcriptions, caller.key, sent, ofBoundary);
      expect([answer.status, openai.textOf((await answer.json()) as never)]).toEqual([
        413,
        'The body is larger than 26214400 bytes.',
      ]);
    }
    expect(await filesOf(workspace.id)).toEqual([]);
  });

  it('beyond the workspace’s number of files is 429, and keeps none', async () => {
    const { caller, workspace } = await gateway().caller({ fileLimit: 2 });
    const images = Array.from({ length: 3 }, (): [string, Value] => ['image[]', png()]);
    const answer = await post(edits, caller.key, formOf(['model', 'gpt-image-2'], ...images));
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([
      429,
      'concurrency_limit_exceeded',
    ]);
    expect(await filesOf(workspace.id)).toEqual([]);
  });

  it('whose caller leaves keeps no file', async () => {
    const { caller, workspace } = await gateway().caller();
    const socket = net.connect({ port: Number(new URL(gateway().url).port), host: '127.0.0.1' });
    socket.write(
      raw(
        `POST ${edits} HTTP/1.1`,
        'Host: a',
        `X-API-Key: ${caller.key}`,
        'Content-Type: multipart/form-data; boundary=b',
        'Content-Length: 1000000',
        '',
        ...part('name="image[]"; filename="a"', 'x'.repeat(100_000)),
        ...part('name="image[]"; filename="a"', 'x'.repeat(100_000)),
      ),
    );
    const begun = { withinMs: 60_000, what: 'the rows of the files' };
    await waitFor(async () => (await filesOf(workspace.id)).length === 2, begun);
    socket.destroy();
    const swept = { withinMs: 60_000, what: 'the rows to be due for the sweep' };
    await waitFor(async () => (await filesOf(workspace.id)).length === 0, swept);
  });
});
