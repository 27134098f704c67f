import { describe, expect, it } from '@jest/globals';
import type { HttpCall, InputFile, Run } from './contract.js';
import { form } from './encodings.js';
import { job } from './job.js';
import { providerOf } from './testing/provider-of.js';
import { replyOf } from './testing/fixtures.js';

const base = 'https://api.provider.example';
const url = 'https://files.example/assets/files/1.png?signature=x';
const stored: InputFile = { mediaType: 'image/png', bytes: 5, content: { storedAs: 'files/1.png' } };
const run = (body: string, given: Partial<Run> = {}): Run => ({
  runId: 'r',
  model: 'provider/m',
  upstream: { path: 'go' },
  body: Buffer.from(body),
  ...given,
});
const withFile = (body: string) => run(body, { files: new Map([[url, stored]]) });

/** The body, with the stored objects named. */
const shown = ({ body, pieces = [] }: HttpCall): string =>
  (body ? [body] : pieces)
    .map((piece) =>
      piece instanceof Uint8Array
        ? Buffer.from(piece).toString()
        : `<${piece.storedAs} ${piece.base64 ?? 'raw'}>`,
    )
    .join('');

describe('base64', () => {
  const adapter = job({
    base,
    rules: [],
    submit: { base64: [{ path: '/image' }, { path: '/images/*', format: 'data_url' }] },
  });

  it('replaces URLs, and leaves every byte around them', () => {
    const body = `{ "seed":18446744073709551615,"images":["${url}", "aGk="],\t"image": "${url}", "other":"${url}" }`;
    expect(adapter.files?.(run(body))).toEqual([
      { url, path: ['image'], upload: false },
      { url, path: ['images', 0], upload: false },
    ]);
    expect(shown(adapter.submit(withFile(body)))).toBe(
      `{ "seed":18446744073709551615,"images":["data:image/png;base64,<files/1.png true>", "aGk="],\t"image": "<files/1.png true>", "other":"${url}" }`,
    );
  });

  it('is forwarded unchanged if the caller sent it', () => {
    const written = run('{"image":"aGk=","images":["data:image/png;base64,aGk="]}');
    expect(adapter.files?.(written)).toEqual([]);
    expect(adapter.submit(written).body).toBe(written.body);
  });

  it('does not apply to a provider that takes URLs', () => {
    expect('files' in job({ base, rules: [] })).toBe(false);
  });
});

describe('a form', () => {
  const adapter = job({ base, rules: [], submit: { encode: form({ files: ['image'] }) } });

  it('contains stored files, with their type and a matching file extension', () => {
    const body = `{"prompt":"x","image":["${url}","aGk="]}`;
    expect(adapter.files?.(run(body))).toEqual([{ url, path: ['image', 0], upload: false }]);
    expect(shown(adapter.submit(withFile(body)))).toContain(
      'name="image"; filename="image.png"\r\nContent-Type: image/png\r\n\r\n<files/1.png raw>\r\n--form-r\r\n',
    );
  });
});

describe('an upload', () => {
  const pixverse = providerOf('pixverse');
  const adapter = pixverse.create(pixverse.defaultBase, {});
  const upload = () => {
    const made = adapter.upload?.(run('{}'));
    if (!made) throw new Error('pixverse takes uploads');
    return made;
  };
  const read = (status: number, body: string) => upload().read(replyOf(status, body));

  it('is a form with one file to the provider’s own URL, with its own trace id', () => {
    const call = upload().call(stored);
    expect([call.method, call.url, call.uniqueHeader]).toEqual([
      'POST',
      'https://app-api.pixverse.ai/openapi/v2/image/upload',
      'ai-trace-id',
    ]);
    expect(shown(call)).toBe(
      '--form-r\r\nContent-Disposition: form-data; name="image"; filename="image.png"\r\nContent-Type: image/png\r\n\r\n<files/1.png raw>\r\n--form-r--\r\n',
    );
  });

  it('puts the id into the input as the provider wrote it, wherever the file is used', () => {
    const body = `{"first_frame_img":"${url}", "last_frame_img" : "${url}","img_id":7 }`;
    const id = read(200, '{"ErrCode":0,"Resp":{"img_id":9223372036854775807}}');
    expect(id).toEqual({ id: '9223372036854775807' });
    const sent = adapter.submit(run(body, { uploads: new Map([[url, '9223372036854775807']]) }));
    expect(shown(sent)).toBe(
      '{"first_frame_img":9223372036854775807, "last_frame_img" : 9223372036854775807,"img_id":7 }',
    );
  });

  it('may be repeated after any failure, because it starts nothing', () => {
    const faults = [
      { fault: 'ambiguous', cause: 'reset' },
      { fault: 'ambiguous', cause: 'timeout' },
      { fault: 'not_sent', cause: 'connect' },
    ] as const;
    for (const signal of [...faults, replyOf(503, ''), replyOf(500, ''), replyOf(429, '')])
      expect(upload().read(signal)).toMatchObject({ failure: { retry: 'new_submit' } });
  });

  it.each([
    [200, '{"ErrCode":500031,"ErrMsg":"x"}', 'rejected_input'],
    [200, '{"ErrCode":0,"Resp":{}}', 'unreadable'],
    [413, '{}', 'rejected_input'],
    [401, '{}', 'provider_account'],
  ])('ends the run if the reply is %i %s', (status, body, failureClass) => {
    expect(read(status, body)).toMatchObject({ failure: { class: failureClass, retry: 'never' } });
  });
});
