import { describe, expect, it } from '@jest/globals';
import { declaredProvider } from './declared.js';
import { renamedFields, renamedValues } from './row-problems.js';

const sound = {
  provider: 'acme',
  base: 'https://api.acme.example',
  auth: { authorization: 'Key {secret}' },
  submit: { url: '{base}/v1/{upstream.path}' },
};
const submit = (more: object) => ({ ...sound, submit: { ...sound.submit, ...more } });
const poll = { url: '{base}/{id}', status: '/s', statuses: {}, interval_seconds: 1 };
const polled = { ...sound, handle: { id: { path: '/id' } }, poll };
const wrapped = { key: 'url', fields: { image: { name: 'images' } } };

/** A declaration with the old word, and its place. The words of models are tested in the catalog. */
const cases: [word: string, declaration: object, place: string][] = [
  ['as', submit({ base64: [{ path: '/image', as: 'data_url' }] }), 'submit.base64.0.as'],
  [
    'as',
    submit({ encode: { asset_fields: { ...wrapped, fields: { image: { as: 'images' } } } } }),
    'submit.encode.asset_fields.fields.image.as',
  ],
  ['at', { ...polled, handle: { id: { at: '/id' } } }, 'handle.id.at'],
  ['at', submit({ upload: { at: ['/x'], url: '{base}/f', part: 'f', id: '/id' } }), 'submit.upload.at'],
  ['beside', submit({ encode: { envelope: 'input', beside: ['version'] } }), 'submit.encode.beside'],
  ['both_spellings', { ...sound, both_spellings: true }, 'both_spellings'],
  ['every_seconds', { ...polled, poll: { ...poll, every_seconds: 1 } }, 'poll.every_seconds'],
  ['files', { ...sound, files: true }, 'files'],
  ['is', { ...sound, rules: [{ path: '/a', is: 'b', class: 'unreadable' }] }, 'rules.0.is'],
  ['is', { ...sound, success_when: [[{ path: '/a', is: { matches: 'b' } }]] }, 'success_when.0.0.is'],
  [
    'is',
    { ...polled, cancel: { url: '{base}/{id}', replies: [{ path: '/a', is: true, answer: 'too_late' }] } },
    'cancel.replies.0.is',
  ],
  ['life_seconds', { ...sound, credential: { jwt: { life_seconds: 60 } } }, 'credential.jwt.life_seconds'],
  ['limited', { ...sound, rules: [{ http: 404, class: 'unreadable', retry: 'limited' }] }, 'rules.0.retry'],
  ['members', submit({ variant: { members: ['a'], url: '{base}/b' } }), 'submit.variant.members'],
  ['of', { ...polled, poll: { ...poll, progress: { path: '/p', of: 100 } } }, 'poll.progress.of'],
  ['references', submit({ encode: { references: wrapped } }), 'submit.encode.references'],
  ['refusals', submit({ refusals: [503] }), 'submit.refusals'],
  ['result_at', { ...sound, protocols: { a: { result_at: ['/a'] } } }, 'protocols.a.result_at'],
  ['settled', submit({ encode: { settled: ['stream'] } }), 'submit.encode.settled'],
  [
    'where',
    { ...sound, account: { key: [{ where: '/a', source: 's', date: '2026-11-25' }] } },
    'account.key.0.where',
  ],
  [
    'within',
    submit({ encode: { asset_fields: { ...wrapped, within: 'url' } } }),
    'submit.encode.asset_fields.within',
  ],
  ...['account', 'failed', 'timeout', 'unavailable'].map((failure): [string, object, string] => [
    `partner_${failure}`,
    { ...sound, rules: [{ http: 404, class: `partner_${failure}` }] },
    'rules.0.class',
  ]),
];

describe('an old name in a declaration', () => {
  it.each(cases)('%s is rejected with its new name', (word, declaration, place) => {
    const declared = declaredProvider(declaration);
    expect(declared.definition ? [] : declared.problems).toEqual([
      {
        path: place.split('.').map((name) => (/^\d+$/.test(name) ? Number(name) : name)),
        message: `"${word}" is now called ${renamedFields[word] ?? renamedValues[word]}`,
      },
    ]);
  });

  it('is tested for every word, here or in the catalog', () => {
    const ofModels = ['at_most', 'fails', 'holds', 'like', 'most', 'or'];
    const tried = new Set([...cases.map(([word]) => word), ...ofModels]);
    expect([...tried].sort()).toEqual(Object.keys({ ...renamedFields, ...renamedValues }).sort());
  });

  it('is reported with all other old names, but without the problems that follow from it', () => {
    const declared = declaredProvider({ ...sound, provider: 'Acme', result_at: [], files: true });
    expect(declared.definition ? [] : declared.problems.map(({ path }) => path)).toEqual([
      ['result_at'],
      ['files'],
    ]);
  });

  it('does not affect other unknown fields, which keep their problem', () => {
    const declared = declaredProvider({ ...sound, colour: 'red' });
    expect(declared.definition ? [] : declared.problems).toMatchObject([
      { message: 'Unrecognized key: "colour"' },
    ]);
  });
});
