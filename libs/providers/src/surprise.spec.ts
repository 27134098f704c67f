import { describe, expect, it } from '@jest/globals';
import type { Handle, Outcome } from './contract.js';
import { adapterOf, reply, run } from './testing/declared-adapter.js';

const acme = adapterOf({
  provider: 'acme',
  base: 'https://api.acme.example',
  auth: { authorization: 'Bearer {secret}' },
  submit: { url: '{base}/{upstream.path}', retry_statuses: [423] },
  handle: { id: { path: '/id' } },
  poll: {
    url: '{base}/jobs/{id}',
    status: '/state',
    statuses: { BUSY: 'running', FINE: 'succeeded' },
    interval_seconds: 1,
  },
  result_paths: ['/files', '/text'],
  rules: [{ http: 409, path: '/reason', equals: 'twice', class: 'provider_failed' }],
});
const handle: Handle = { v: 1, step: 'poll', id: '7' };
const kindOf = (outcome: Outcome | undefined) => outcome?.surprise?.kind;
const submitted = (body: string, status = 200, type?: string) =>
  acme.onSubmit(run, reply(body, status, type));
const polled = (body: string, assets?: string[]) => acme.onResume?.(handle, reply(body), assets);

describe('the status of a polled run', () => {
  it.each([
    ['{"state":"BUSY"}', undefined],
    ['{"state":" busy "}', undefined],
    ['{"state":"FINE","files":["u"]}', undefined],
    ['{"state":"Composing"}', 'The reply to poll has the status “Composing”.'],
    ['{"phase":"BUSY"}', 'The reply to poll names no status.'],
  ])('%s', (body, note) => {
    const outcome = polled(body);
    expect(outcome?.surprise?.note).toBe(note);
    expect(outcome?.kind).toBe(body.includes('FINE') ? 'succeeded' : 'pending');
  });

  it('is quoted in part only', () => {
    expect(polled(`{"state":"${'x'.repeat(5000)}"}`)?.surprise?.note.length).toBeLessThan(200);
  });
});

describe('an error', () => {
  it.each([
    ['of an undocumented status', '{}', 418, undefined, 'unknown_error'],
    ['that a rule matches', '{"reason":"twice"}', 409, undefined, undefined],
    ['of the same status that no rule matches', '{"reason":"other"}', 409, undefined, 'unknown_error'],
    ['of a listed status', '{}', 423, undefined, undefined],
    ['that is a page', '<html>', 403, 'text/html', 'unknown_error'],
    ['that is a line of text', 'no such user', 403, 'text/plain; charset=utf-8', undefined],
    ['that is empty', '', 401, 'text/html', undefined],
    ['about a field', '{"detail":[{"loc":["body","a"],"msg":"bad","type":"t"}]}', 422, undefined, undefined],
    ['about an input, in another form', '{"problem":"bad"}', 422, undefined, 'unknown_error'],
    ['of a server that is down', '<html>', 502, 'text/html', undefined],
    ['of a provider that is busy', '<html>', 429, 'text/html', undefined],
    ['of an unknown model', '<html>', 404, 'text/html', undefined],
  ])('%s', (_what, body, status, type, kind) => {
    expect(kindOf(submitted(body, status, type))).toBe(kind);
  });
});

describe('a success', () => {
  it('that cannot be read', () => {
    expect(kindOf(submitted('<html>', 200, 'text/html'))).toBe('unreadable');
    expect(kindOf(submitted('{"job":7}'))).toBe('unreadable');
    expect(kindOf(submitted('{"id":7}'))).toBeUndefined();
  });

  it('without its result, or without the files of the row', () => {
    const files = ['/files/*/url'];
    expect(kindOf(polled('{"state":"FINE"}', files))).toBe('no_files');
    expect(kindOf(polled('{"state":"FINE","files":[{"link":"u"}]}', files))).toBe('no_files');
    expect(kindOf(polled('{"state":"FINE","files":[{"url":"u"}]}', files))).toBeUndefined();
    // A result of another kind has no files.
    expect(kindOf(polled('{"state":"FINE","text":"a cat"}', files))).toBeUndefined();
    expect(kindOf(polled('{"state":"FINE","files":["u"]}'))).toBeUndefined();
  });
});
