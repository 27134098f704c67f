import { describe, expect, it } from '@jest/globals';
import { adapterOf, run } from './testing/declared-adapter.js';

describe('usage on request', () => {
  const adapter = adapterOf({
    provider: 'acme',
    base: 'https://api.acme.example',
    auth: { authorization: 'Bearer {secret}' },
    submit: { url: '{base}/{upstream.path}', encode: { force_false: ['stream'] } },
    stream: {
      member: 'stream',
      include_usage: true,
      fold: [{}],
      names: { delta: 'message' },
      text: ['/choices/*/delta/content'],
      end: '[DONE]',
      error_when: { path: '/error' },
    },
  });
  const submitted = (body: string) =>
    adapter.submit({ ...run, body: new TextEncoder().encode(body), streams: true });

  it.each([
    ['{"stream":true}', '{"stream_options":{"include_usage":true},"stream":true}'],
    ['{"stream":true,"stream_options":{}}', '{"stream":true,"stream_options":{"include_usage":true}}'],
    ['{"stream_options": null }', '{"stream_options": {"include_usage":true} }'],
    ['{"stream_options":[]}', '{"stream_options":{"include_usage":true}}'],
    [
      '{"stream_options":{ "include_obfuscation":false}, "n":1.0}',
      '{"stream_options":{"include_usage":true, "include_obfuscation":false}, "n":1.0}',
    ],
    ...['false', 'null', '0', '"no"', '[]', '{"a":1}'].map((value) => [
      `{"n":1.0, "stream_options":{"a": 1, "include_usage" : ${value} }}`,
      '{"n":1.0, "stream_options":{"a": 1, "include_usage" : true }}',
    ]),
    // Parsers differ in which of two members they use, and some ignore case.
    [
      '{"stream_options":{"include_usage":true,"include_usage":false},"stream_options":{"Include_Usage":false}}',
      '{"stream_options":{"include_usage":true,"include_usage":true},"stream_options":{"include_usage":true,"Include_Usage":true}}',
    ],
    [
      '{"Stream_Options":{"include_usage":false}}',
      '{"stream_options":{"include_usage":true},"Stream_Options":{"include_usage":true}}',
    ],
    ['{"stream\\u005foptions":null}', '{"stream\\u005foptions":{"include_usage":true}}'],
  ])('is requested by %s, and its event is withheld', (body, sent) => {
    const { body: bytes, stream: events } = submitted(body);
    expect(Buffer.from(bytes ?? []).toString()).toBe(sent);
    const isWithheld = (event: string) => events?.withholds?.(event);
    for (const choices of ['"choices":[],', '"choices":null,', ''])
      expect(isWithheld(`{"id":"a",${choices}"usage":{"prompt_tokens":1}}`)).toBe(true);
    expect(isWithheld('{"choices":[{"index":0}],"usage":{"prompt_tokens":1}}')).toBe(false);
    expect(isWithheld('{"choices":[],"usage":null,"prompt_filter_results":[]}')).toBe(false);
    expect(isWithheld('{"error":{"code":502},"usage":{"prompt_tokens":1}}')).toBe(false);
    expect(isWithheld('[DONE]')).toBe(false);
    expect(isWithheld('{"usage"')).toBe(false);
  });

  it.each([
    '{"stream_options":{"include_usage":true}}',
    '{"stream_options":null,"stream_options":{"include_usage":true}}',
  ])('comes with its event to a caller who sends %s', (body) => {
    expect(submitted(body).stream?.withholds).toBeUndefined();
  });
});
