import { describe, expect, it } from '@jest/globals';

import {
  assetFields,
  envelope,
  forceFalse,
  form,
  RefusedInput,
  segmentOf,
  withoutMembers,
} from './encodings.js';

const run = (text: string) => ({
  runId: '0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f',
  model: 'p/m',
  upstream: {},
  body: new TextEncoder().encode(text),
});

it('a file whose content does not tell its type is named by the extension of its key', () => {
  const url = 'https://files.example/files/7.mp3';
  const nameOf = (mediaType: string) => {
    const file = { mediaType, bytes: 1, content: { storedAs: 'files/7.mp3' } };
    const { pieces = [] } = form({ files: ['file'] })({
      ...run(JSON.stringify({ file: url })),
      files: new Map([[url, file]]),
    });
    return /filename="([^"]*)"/.exec(Buffer.from(pieces[0] as Uint8Array).toString())?.[1];
  };
  expect(['application/octet-stream', 'audio/wav'].map(nameOf)).toEqual(['file.mp3', 'file.wav']);
});

describe('envelope', () => {
  it('contains the caller’s own bytes', () => {
    const { contentType, body } = envelope('input')(run('{ "seed":18446744073709551615, "a":1.0 }'));
    expect(contentType).toBe('application/json');
    expect(Buffer.from(body ?? []).toString()).toBe('{"input":{ "seed":18446744073709551615, "a":1.0 }}');
  });
});

it('contains the fields from the model row', () => {
  const { body } = envelope('input', ['version', 'none'])({ ...run('{}'), upstream: { version: '5c7d"' } });
  expect(Buffer.from(body ?? []).toString()).toBe('{"version":"5c7d\\"","input":{}}');
});

describe('asset fields', () => {
  const encode = assetFields('image_url', { image: { name: 'images', list: true }, mask: { name: 'mask' } });
  const sent = (text: string) => Buffer.from(encode(run(text)).body ?? []).toString();

  it.each([
    ['{"image":"u", "n":1.0}', '{"images":[{"image_url":"u"}],"n":1.0}'],
    ['{ "image" : ["u", "\\u00e9"] }', '{"images":[{"image_url":"u"},{"image_url":"\\u00e9"}]}'],
    ['{"image":[{"file_id":"f"},"u"]}', '{"images":[{"file_id":"f"},{"image_url":"u"}]}'],
    ['{"mask":"m","images":[{"file_id":"f"}]}', '{"mask":{"image_url":"m"},"images":[{"file_id":"f"}]}'],
    ['{"image":[],"mask":null,"seed":18446744073709551615}', '{"images":[],"seed":18446744073709551615}'],
    ['{}', '{}'],
  ])('%s becomes %s', (text, wanted) => {
    expect(sent(text)).toBe(wanted);
  });
});

describe('forceFalse', () => {
  it.each([
    ['{"stream" : true ,"n":1.0}', '{"stream" : false ,"n":1.0}'],
    [
      '{"a":{"stream":true},"stream":1,"Stream":"yes" }',
      '{"a":{"stream":true},"stream":false,"Stream":false }',
    ],
    ['{"str\\u0065am":true}', '{"str\\u0065am":false}'],
    ['{ "stream":false,"background":null, "seed":18446744073709551615}', undefined],
    ['{}', undefined],
  ])('%s becomes %s', (text, wanted = text) => {
    expect(Buffer.from(forceFalse(['stream', 'background'])(run(text)).body ?? []).toString()).toBe(wanted);
  });
});

const read = async (text: string, files: string[] = []) => {
  const { contentType, body } = form({ files })(run(text));
  return new Response(Buffer.from(body ?? []), { headers: { 'content-type': contentType } }).formData();
};

describe('form', () => {
  it('sends every member as a field, numbers with their original digits', async () => {
    const fields = await read(
      '{"prompt":"é \\n\\"cat\\"","seed":18446744073709551615,"strength":1.0,"loud":true,"none":null,"list":[1, 2],"a":1,"a":2}',
    );
    expect(Object.fromEntries(fields)).toEqual({
      prompt: 'é \n"cat"',
      seed: '18446744073709551615',
      strength: '1.0',
      loud: 'true',
      list: '[1, 2]',
      a: '2',
    });
  });

  it('rejects a URL where the provider takes the file itself', () => {
    const input = run('{"image":"https://a.example/x.png"}');
    expect(() => form({ files: ['image'] })(input)).toThrow(RefusedInput);
    expect(() => form()(input)).not.toThrow();
  });

  it('makes files out of base64 and data: URLs', async () => {
    const fields = await read('{"image":"AAEC","mask":"data:image/png;base64,//79","more":["AA==","AQ=="]}', [
      'image',
      'mask',
      'more',
    ]);
    const bytes = async (name: string) =>
      Promise.all(
        fields.getAll(name).map(async (file) => [...new Uint8Array(await (file as File).arrayBuffer())]),
      );
    expect(await bytes('image')).toEqual([[0, 1, 2]]);
    expect((fields.get('image') as File).type).toBe('application/octet-stream');
    expect((fields.get('mask') as File).type).toBe('image/png');
    expect(await bytes('mask')).toEqual([[255, 254, 253]]);
    expect(await bytes('more')).toEqual([[0], [1]]);
  });

  it('names the files of a list as the elements of the list are named, and a single file as its member', async () => {
    const text = '{"image":["data:image/png;base64,AA==","AQ=="],"mask":"AQ=="}';
    const lists = { image: 'image[]', mask: 'mask[]' };
    const { contentType, body } = form({ files: ['image', 'mask'], lists })(run(text));
    const headers = { 'content-type': contentType };
    const fields = await new Response(Buffer.from(body ?? []), { headers }).formData();
    expect([...fields].map(([name, file]) => [name, (file as File).name])).toEqual([
      ['image[]', 'image.png'],
      ['image[]', 'image'],
      ['mask', 'mask'],
    ]);
  });

  it('does not let a caller end a field or inject a header', async () => {
    const boundary = 'form-0197c2a4-5b1e-7c3d-8e9f-0a1b2c3d4e5f';
    const fields = await read(
      JSON.stringify({
        prompt: `\r\n--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\ndear`,
        'a"; filename="x\r\nX-Evil: 1': 'b',
      }),
    );
    expect([...fields.keys()]).toEqual(['prompt', 'a"; filename="x  X-Evil: 1']);
  });

  it('gives the same bytes for every attempt of a run', () => {
    expect(form()(run('{"a":1}'))).toEqual(form()(run('{"a":1}')));
  });
});

it('sends each element of a named list as a field of its own', async () => {
  const text = '{"words":["a", "b"],"kinds":"all","other":["a"]}';
  const { contentType, body } = form({ lists: { words: 'words[]', kinds: 'kinds[]' } })(run(text));
  const headers = { 'content-type': contentType };
  const fields = await new Response(Buffer.from(body ?? []), { headers }).formData();
  expect([...fields]).toEqual([
    ['words[]', 'a'],
    ['words[]', 'b'],
    ['kinds[]', 'all'],
    ['other', '["a"]'],
  ]);
});

describe('a field of the input that is part of the address', () => {
  it.each([
    ['{ "seed":18446744073709551615, "voice":"v", "a":1.0 }', '{ "seed":18446744073709551615, "a":1.0 }'],
    ['{ "voice" : "v" , "a":1.0 }', '{ "a":1.0 }'],
    ['{"voice":"v","voice":"w","a":"voice", "voice":"x" }', '{"a":"voice" }'],
    ['{"voice":"v" }', '{ }'],
    ['{ }', '{ }'],
  ])('is left out of the body: %s', (text, wanted) => {
    const encode = withoutMembers(['voice'], ({ body }) => ({ contentType: 'application/json', body }));
    expect(Buffer.from(encode(run(text)).body ?? []).toString()).toBe(wanted);
  });

  it('counts with its last value', () => {
    expect(segmentOf(run('{"voice":"a","voice":"b_-1"}'), 'voice')).toBe('b_-1');
  });

  it.each(['{}', '{"voice":""}', '{"voice":"../user"}', '{"voice":".."}', '{"voice":"a?b"}', '{"voice":5}'])(
    'is refused unless it is one plain segment: %s',
    (text) => {
      expect(() => segmentOf(run(text), 'voice')).toThrow(RefusedInput);
    },
  );
});
