import { describe, expect, it } from '@jest/globals';
import { providerList } from '../providers.js';
import { declaredProvider } from './declared.js';
import { adapterOf, reply, run } from '../testing/declared-adapter.js';

const sound = {
  provider: 'acme',
  base: 'https://api.acme.example',
  auth: { authorization: 'Key {secret}', 'x-version': '2' },
  submit: { url: '{base}/v1/{upstream.path}' },
};
const polled = {
  ...sound,
  handle: { id: { path: '/id' }, pollUrl: { path: '/urls/poll', url: true, optional: true } },
  poll: {
    url: ['{pollUrl}', '{base}/v1/jobs/{id}'],
    status: '/status',
    statuses: { done: 'succeeded' },
    interval_seconds: 2,
  },
};

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

describe('a declared provider', () => {
  it('fills in its headers and addresses', () => {
    const adapter = adapterOf(sound);
    const call = adapter.submit(run);
    expect(call.url).toBe('https://api.acme.example/v1/paint/fast');
    expect(adapter.credential(call, 'the $& secret', 0)).toEqual({
      authorization: 'Key the $& secret',
      'x-version': '2',
    });
  });

  it('without a poll treats the submit reply as the result, including a file if declared', () => {
    expect(adapterOf(sound).onSubmit(run, reply('{"a":1}'))).toMatchObject({ kind: 'succeeded' });
    const sound2 = reply('ID3', 200, 'audio/mpeg');
    expect(adapterOf(sound).onSubmit(run, sound2)).toMatchObject({ kind: 'failed' });
    expect(adapterOf({ ...sound, file_results: true }).onSubmit(run, sound2)).toMatchObject({
      kind: 'succeeded',
      output: { mediaType: 'audio/mpeg' },
    });
  });

  it('polls the first address whose values are known; a value from the provider stays one segment', () => {
    const adapter = adapterOf(polled);
    const pollOf = (body: string) => {
      const outcome = adapter.onSubmit(run, reply(body));
      if (outcome.kind !== 'pending') throw new Error(outcome.kind);
      expect(outcome.afterMs).toBe(2000);
      return adapter.resume?.(outcome.handle).url;
    };
    expect(pollOf('{"id":"a/../b?c"}')).toBe('https://api.acme.example/v1/jobs/a%2F..%2Fb%3Fc');
    expect(pollOf('{"id":"1","urls":{"poll":"https://api.acme.example/p/1"}}')).toBe(
      'https://api.acme.example/p/1',
    );
    expect(pollOf('{"id":"1","urls":{"poll":"https://elsewhere.example/p/1"}}')).toBe(
      'https://api.acme.example/v1/jobs/1',
    );
  });

  it('sends the declared body with a poll, with its texts filled in', () => {
    const adapter = adapterOf({
      ...polled,
      poll: {
        ...polled.poll,
        method: 'POST',
        url: '{base}/poll',
        body: { name: '{id}', deep: [1, '{id}-x'] },
      },
    });
    const call = adapter.resume?.({ v: 1, step: 'poll', id: 'a"b' });
    expect(JSON.parse(text(call?.body))).toEqual({ name: 'a"b', deep: [1, 'a"b-x'] });
    expect(call?.headers).toEqual({ 'content-type': 'application/json' });
  });

  it('fetches with the values from the last poll', () => {
    const adapter = adapterOf({
      ...polled,
      handle: { id: { path: '/id' }, file: { path: '/file', polled: true } },
      poll: { ...polled.poll, url: '{base}/v1/jobs/{id}' },
      fetch: { url: '{base}/v1/files/{file}?of={id}' },
    });
    const submitted = adapter.onSubmit(run, reply('{"id":"1","file":"too early"}'));
    if (submitted.kind !== 'pending') throw new Error(submitted.kind);
    expect(submitted.handle).not.toHaveProperty('file');
    const ended = adapter.onResume?.(submitted.handle, reply('{"status":"done","file":90071992547409931}'));
    if (ended?.kind !== 'next') throw new Error(ended?.kind);
    expect(adapter.resume?.(ended.handle).url).toBe(
      'https://api.acme.example/v1/files/90071992547409931?of=1',
    );
  });

  it('requests a header field with a unique value in every call', () => {
    const adapter = adapterOf({ ...polled, unique_header: 'x-trace' });
    expect(adapter.submit(run).uniqueHeader).toBe('x-trace');
    expect(adapter.resume?.({ v: 1, step: 'poll', id: '1' }).uniqueHeader).toBe('x-trace');
  });

  it('fills in header fields from the model’s row', () => {
    const adapter = adapterOf({
      ...polled,
      submit: { ...sound.submit, headers: { accept: '{upstream.path};v=1' } },
      handle: { ...polled.handle, row: { upstream: 'path' } },
      poll: { ...polled.poll, headers: { accept: '{row}' } },
    });
    expect(adapter.submit(run).headers).toMatchObject({ accept: 'paint/fast;v=1' });
    expect(adapter.resume?.({ v: 1, step: 'poll', id: '1', row: 'a' }).headers).toEqual({ accept: 'a' });
  });

  it('matches a rule only if several places have no value', () => {
    const refused = { path: '/all/*/refused', equals: true, class: 'content_policy' };
    const adapter = adapterOf({ ...sound, rules: [{ ...refused, unless: ['/all/*/url', '/all/*/data'] }] });
    const outcome = (body: string) => adapter.onSubmit(run, reply(body)).kind;
    expect(outcome('{"all":[{"refused":true}]}')).toBe('failed');
    expect(outcome('{"all":[{"refused":true},{"url":"u"}]}')).toBe('succeeded');
    expect(outcome('{"all":[{"refused":true},{"data":"d"}]}')).toBe('succeeded');
  });

  it('wraps the caller’s bytes, or sends them as a form', () => {
    const wrapped = adapterOf({ ...sound, submit: { ...sound.submit, encode: { envelope: 'input' } } });
    expect(text(wrapped.submit(run).body)).toBe('{"input":{"prompt":"a cat"}}');
    const form = adapterOf({ ...sound, submit: { ...sound.submit, encode: { form: {} } } });
    expect(form.submit(run).headers?.['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  });

  it('moves a field of the input into the address', () => {
    const variant = { contains: ['voice'], url: '{base}/v1/{upstream.voices}/{input.voice}' };
    const adapter = adapterOf({ ...sound, submit: { ...sound.submit, variant } });
    const spoken = (body: string, upstream: Record<string, string>) =>
      adapter.submit({
        ...run,
        upstream: { ...run.upstream, ...upstream },
        body: new TextEncoder().encode(body),
      });
    const call = spoken('{"voice":"v_1", "prompt":"a cat"}', { voices: 'voices' });
    expect([call.url, text(call.body)]).toEqual([
      'https://api.acme.example/v1/voices/v_1',
      '{ "prompt":"a cat"}',
    ]);
    expect(() => spoken('{"voice":"../keys"}', { voices: 'voices' })).toThrow('the input cannot be sent');
    // A row without such an address sends the field like any other.
    expect(text(spoken('{"voice":"../keys"}', {}).body)).toBe('{"voice":"../keys"}');
  });

  it('chooses address and encoding by the input', () => {
    const adapter = adapterOf({
      ...sound,
      submit: {
        ...sound.submit,
        variant: {
          contains: ['image'],
          url: '{base}/v1/{upstream.edits}',
          encode: { asset_fields: { key: 'url', fields: { image: { name: 'images', list: true } } } },
        },
      },
    });
    const body = new TextEncoder().encode('{"image":"u"}');
    const edit = adapter.submit({ ...run, upstream: { path: 'paint', edits: 'edits' }, body });
    expect([edit.url, text(edit.body)]).toEqual([
      'https://api.acme.example/v1/edits',
      '{"images":[{"url":"u"}]}',
    ]);
    expect(adapter.submit({ ...run, body }).url).toBe('https://api.acme.example/v1/paint/fast');
  });

  it('sends its key to hosts below a wildcard origin, not to the domain itself or to a look-alike', () => {
    const { credentialOrigins } = adapterOf({ ...sound, credential_origins: ['https://*.acme.example'] });
    const trusted = (origin: string) => credentialOrigins.some((pattern) => pattern.test(origin));
    expect(
      ['https://eu.acme.example', 'https://a.b.acme.example', 'https://api.acme.example'].map(trusted),
    ).toEqual([true, true, true]);
    expect(
      [
        'https://acme.example',
        'https://evilacme.example',
        'https://eu.acme.example.evil',
        'http://eu.acme.example',
      ].map(trusted),
    ).toEqual([false, false, false, false]);
  });

  it('matches patterns in linear time', () => {
    const adapter = adapterOf({
      ...sound,
      rules: [{ path: '/error', matches: '(?i)^(a|a)*b$', class: 'content_policy' }],
    });
    // A backtracking engine would never finish.
    const long = adapter.onSubmit(run, reply(`{"error":"${'a'.repeat(100_000)}"}`, 400));
    expect(long).toMatchObject({ kind: 'failed', failure: { class: 'rejected_input' } });
    expect(adapter.onSubmit(run, reply('{"error":"AAB"}', 400))).toMatchObject({
      failure: { class: 'content_policy' },
    });
  });

  it('reads a rejected input from the places it names', () => {
    const adapter = adapterOf({ ...sound, rejections: { msg: '/error/message', field: '/error/param' } });
    const body = '{"error":{"message":"Too wide","param":"size.width"}}';
    expect(adapter.onSubmit(run, reply(body, 400))).toMatchObject({
      failure: { fields: [{ loc: ['body', 'size', 'width'], msg: 'Too wide' }] },
    });
  });
});

describe('a declaration', () => {
  it('of a built-in provider has no problems', () => {
    const declarations = providerList.flatMap(({ declaration }) => declaration ?? []);
    expect(declarations.length).toBeGreaterThan(10);
    expect(
      declarations
        .map((row) => declaredProvider(JSON.parse(row)))
        .flatMap((read) => (read.definition ? [] : read.problems)),
    ).toEqual([]);
  });

  it.each([
    ['an unknown field', { ...sound, colour: 'red' }, ''],
    ['a name in capitals', { ...sound, provider: 'Acme' }, 'provider'],
    ['a base with a query', { ...sound, base: 'https://a.example/?x=1' }, 'base'],
    ['a header in capitals', { ...sound, auth: { Authorization: '{secret}' } }, 'auth.Authorization'],
    ['a line break in a header', { ...sound, auth: { a: 'x\r\ny: z' } }, 'auth.a'],
    ['an unknown value in the credential', { ...sound, auth: { a: '{key}' } }, 'auth.a'],
    ['no key in the credential', { ...sound, auth: { a: 'x' } }, 'auth'],
    ['a placeholder with a filter', { ...sound, auth: { a: 'Basic {secret|base64}' } }, 'auth.a'],
    ['an unknown value in the address', { ...sound, submit: { url: '{base}/{id}' } }, 'submit.url'],
    [
      'an address outside the base for a variant',
      { ...sound, submit: { ...sound.submit, variant: { contains: ['a'], url: 'https://evil.example/' } } },
      'submit.variant.url',
    ],
    ['an address outside the base', { ...sound, submit: { url: 'https://evil.example/' } }, 'submit.url'],
    ['a host that continues the base', { ...sound, submit: { url: '{base}.evil.example/' } }, 'submit.url'],
    [
      'a polled value without a fetch',
      { ...polled, handle: { ...polled.handle, file: { path: '/file', polled: true } } },
      'handle.file.polled',
    ],
    [
      'a poll by a value from the last poll',
      {
        ...polled,
        handle: { id: { path: '/id' }, file: { path: '/file', polled: true } },
        poll: { ...polled.poll, url: '{base}/{file}' },
        fetch: { url: '{base}/{file}' },
      },
      'poll.url',
    ],
    [
      'a poll without a value from the submission',
      {
        ...polled,
        handle: { file: { path: '/file', polled: true } },
        poll: { ...polled.poll, url: '{base}/all' },
        fetch: { url: '{base}/{file}' },
      },
      'handle',
    ],
    [
      'a value from the provider in a header',
      { ...polled, poll: { ...polled.poll, headers: { accept: '{id}' } } },
      'poll.headers.accept',
    ],
    ['an invalid header', { ...sound, unique_header: 'X Trace' }, 'unique_header'],
    ['a fetch without a poll', { ...sound, fetch: { url: '{base}/x' } }, 'fetch'],
    ['a poll without a handle', { ...polled, handle: undefined }, 'handle'],
    ['a poll by a value that is not a URL', { ...polled, poll: { ...polled.poll, url: '{id}' } }, 'poll.url'],
    [
      'a poll whose only address is optional',
      { ...polled, poll: { ...polled.poll, url: '{pollUrl}' } },
      'poll.url',
    ],
    [
      'an unknown meaning of a status',
      { ...polled, poll: { ...polled.poll, statuses: { done: 'finished' } } },
      'poll.statuses.done',
    ],
    ['a rule for everything', { ...sound, rules: [{ class: 'content_policy' }] }, 'rules.0'],
    [
      'a value without a place',
      { ...sound, rules: [{ http: 400, equals: 'x', class: 'unreadable' }] },
      'rules.0',
    ],
    [
      'a pattern that needs backtracking',
      { ...sound, rules: [{ path: '/a', matches: '(a)\\1', class: 'unreadable' }] },
      'rules.0.matches',
    ],
    ['a wide-open origin', { ...sound, credential_origins: ['https://*'] }, 'credential_origins.0'],
    ['a handle field with a reserved name', { ...polled, handle: { step: { path: '/id' } } }, 'handle.step'],
  ])('may not have %s', (_, row, place) => {
    const declared = declaredProvider(row);
    const places = declared.definition ? [] : declared.problems.map(({ path }) => path.join('.'));
    expect(places.some((each) => each === place || each.startsWith(`${place}.`))).toBe(true);
  });
});
