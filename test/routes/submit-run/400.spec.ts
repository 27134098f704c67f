import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/requests';

const nested = (depth: number) => `{"prompt":1,"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
const keys = (count: number) => `{${Array.from({ length: count }, (_, nth) => `"k${nth}":0`).join()}}`;

it.each([
  ['an array', '[1]'],
  ['a string', '"text"'],
  ['null', 'null'],
  ['an empty body', ''],
  ['an unclosed object', '{"prompt":'],
  ['two objects', '{} {}'],
  ['a byte order mark', '\uFEFF{"prompt":"x"}'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['UTF-16', Buffer.from('{"prompt":"x"}', 'utf16le')],
  ['65 levels', nested(65)],
  ['a hundred thousand levels', '{"a":'.repeat(100_000)],
  ['10,001 keys', keys(10_001)],
  ['1,000,001 arrays and objects', `{"a":[${'{},'.repeat(999_998)}[]]}`],
])('rejects %s', async (_what, body) => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('POST', path, { body, headers: { 'content-type': 'application/json' } });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});

it('a body just within the limits has its fields checked', async () => {
  const { caller } = await gateway().caller();
  for (const body of [nested(64), keys(10_000), `{"prompt":1,"a":[${'{},'.repeat(999_997)}[]]}`]) {
    expect((await caller.call('POST', path, { body })).status).toBe(422);
  }
});

it.each([
  ['is empty', ''],
  ['contains a space', 'a b'],
  ['is longer than 255 characters', 'k'.repeat(256)],
  ['contains a non-ASCII character', 'k\u00e9'],
])('rejects an Idempotency-Key that %s', async (_what, key) => {
  const { caller } = await gateway().caller();
  const headers = { 'idempotency-key': key };
  const answer = await caller.call('POST', path, { body: '{"prompt":"x"}', headers });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});

it('a key of 255 characters is accepted', async () => {
  const { caller } = await gateway().caller();
  const headers = { 'idempotency-key': '~'.repeat(255) };
  expect((await caller.call('POST', path, { body: '{"prompt":"x"}', headers })).status).toBe(201);
});

const tagged = (count: number) => ({
  'x-service-tags': Array.from({ length: count }, (_, nth) => `t${nth}=x`).join(),
});

it.each([
  ['tags without a value', { 'x-service-tags': 'project' }, 'project=alpha'],
  ['a tag with an empty value', { 'x-service-tags': 'project=' }, 'project=alpha'],
  ['an upper-case name', { 'x-service-tags': 'Project=a' }, 'project=alpha'],
  ['a name of 33 characters', { 'x-service-tags': `${'n'.repeat(33)}=a` }, 'project=alpha'],
  ['a value of 129 characters', { 'x-service-tags': `n=${'v'.repeat(129)}` }, 'project=alpha'],
  ['a value with a space', { 'x-service-tags': 'n=a b' }, 'project=alpha'],
  ['a value that is not ASCII', { 'x-service-tags': 'n=\u00e9' }, 'project=alpha'],
  ['an empty tag', { 'x-service-tags': 'a=1,,b=2' }, 'project=alpha'],
  ['17 tags', tagged(17), '1 to 16'],
  ['a repeated tag', { 'x-service-tags': 'a=1, b=2, a=1' }, '"a" twice'],
  ['an empty user', { 'x-service-user': '' }, 'X-Service-User must be'],
  ['a user of 129 characters', { 'x-service-user': 'u'.repeat(129) }, 'X-Service-User must be'],
  ['a user with a space', { 'x-service-user': 'a b' }, 'X-Service-User must be'],
])('rejects %s', async (_what, headers: Record<string, string>, says) => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('POST', path, { body: '{"prompt":"x"}', headers });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect(answer.json()['detail']).toContain(says);
});

it('rejects a 17th tag that the key adds', async () => {
  const { keyWith } = await gateway().caller();
  const caller = await keyWith({ project: 'alpha' });
  const answer = await caller.call('POST', path, { body: '{"prompt":"x"}', headers: tagged(16) });
  expect([answer.status, answer.json()['detail']]).toEqual([400, expect.stringContaining('at most 16 tags')]);
  expect((await caller.call('POST', path, { body: '{"prompt":"x"}', headers: tagged(15) })).status).toBe(201);
});

it.each([
  ['is not a URL', 'webhook_url=hook', 'webhook_url must be an absolute URL.'],
  ['is not https', 'webhook_url=http://hooks.example/a', 'http: is not https'],
  ['is on another port', 'webhook_url=https://hooks.example:8443/a', 'port 8443'],
  ['points to a private address', 'webhook_url=https://10.1.2.3/a', '10.1.2.3 is not a public address'],
  ['points to this machine', 'fal_webhook=https://127.0.0.1/a', 'fal_webhook must be a public https URL'],
  ['contains a password', 'webhook_url=https://a:b@hooks.example/a', 'user name or password'],
  ['is too long', `webhook_url=https://hooks.example/${'a'.repeat(2048)}`, 'longer than 2048 characters'],
  [
    'is too long once it is encoded',
    `webhook_url=https://hooks.example/${'é'.repeat(400)}`,
    'longer than 2048 characters',
  ],
  ['is empty', 'webhook_url=', 'must be an absolute URL'],
  ['is given twice', 'webhook_url=https://a.example&webhook_url=https://b.example', 'must not be repeated'],
  ['is given in both forms', 'webhook_url=https://a.example&fal_webhook=https://a.example', 'not both'],
])('a webhook that %s is rejected', async (_what, query, says) => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('POST', `${path}?${query}`, { body: '{"prompt":"x"}' });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect(answer.json()['detail']).toContain(says);
});

const rejection = async (by: Caller, headers: Record<string, string>) => {
  const answer = await by.call('POST', path, { body: '{"prompt":"x"}', headers });
  return [answer.status, answer.bucket, /the tag|end user/.exec(answer.bytes.toString())?.[0]];
};

it('rejects a run that lacks a tag or an end user which its workspace requires; the tags of a key count', async () => {
  const facts = { requiredTags: ['team', 'project'], requiresUser: true };
  const { caller } = await gateway().caller(facts, ['run', 'manage']);
  const body = '{"name":"app","scopes":["run"],"tags":{"team":"web"}}';
  const { key } = (await caller.call('POST', '/v2/keys', { body })).json();
  const tagged = new Caller(() => [gateway().url], String(key));
  const user = { 'x-service-user': 'anna' };
  expect(await rejection(caller, {})).toEqual([400, 'invalid_input', 'the tag']);
  expect(await rejection(tagged, { 'x-service-tags': 'project=a' })).toEqual([
    400,
    'invalid_input',
    'end user',
  ]);
  for (const by of [caller, tagged])
    expect((await rejection(by, { ...user, 'x-service-tags': 'other=a' })).slice(0, 2)).toEqual([
      400,
      'invalid_input',
    ]);
  expect((await rejection(tagged, { ...user, 'x-service-tags': 'project=a' }))[0]).toBe(201);
  expect((await rejection(caller, { ...user, 'x-service-tags': 'project=a,team=b' }))[0]).toBe(201);
});
