import path from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  diff,
  directory,
  env,
  expectValid,
  filesIn,
  rowOf,
  server,
  usePublishingServer,
} from './importing.js';
import { replicateDocument } from './publishing-server.js';
import { runAdmin } from './run-admin.js';

usePublishingServer();

const replicate = (...words: string[]) =>
  runAdmin(
    env,
    'catalog',
    'import',
    'replicate',
    ...words,
    '--to',
    directory,
    '--api',
    `${server.url}/replicate`,
  );

describe('admin catalog import replicate', () => {
  const files = { type: 'array', items: { type: 'string', format: 'uri' } };
  beforeEach(() => {
    const published = {
      description: 'Paints.',
      default_example: { output: ['https://files.example/out-0.webp'] },
      latest_version: { id: 'abc123', openapi_schema: replicateDocument(files) },
    };
    server.models.set('acme/official', { ...published, is_official: true });
    server.models.set('someone/community', published);
    server.models.set('someone/empty', { latest_version: null });
  });

  it('addresses official models by name, and community models by version', async () => {
    const { code, out } = await replicate('acme/official', 'someone/community', '--usd-per-second', '0.001');
    expect([code, out]).toEqual([0, '2 added, 0 updated, 0 unchanged, 0 kept, 0 skipped.\n']);
    expect(rowOf('replicate__acme-official')).toMatchObject({
      upstream: { path: 'models/acme/official/predictions', model: 'acme/official' },
      price: { usd: 0.54, reported: [{ path: '/metrics/predict_time', usd: 0.001 }] },
      assets: ['/output/*'],
      charges_on_policy_rejection: 'no',
      policy_source: expect.stringContaining('replicate.com/docs/topics/billing'),
      modalities: { in: ['text'], out: ['image'] },
    });
    expect(rowOf('replicate__someone-community')['upstream']).toEqual({
      path: 'predictions',
      model: 'someone/community',
      version: 'abc123',
    });
    await expectValid();
  });

  it('bills runs at the given price', async () => {
    expect((await replicate('acme/official', '--usd', '0.05')).code).toBe(0);
    expect(rowOf('replicate__acme-official')['price']).toMatchObject({ usd: 0.05 });
    expect((await replicate('acme/official')).code).toBe(2);
  });

  it('skips unknown models and models without a version', async () => {
    const { code, out } = await replicate('acme/none', 'someone/empty', '--usd', '1');
    expect([code, out.split('\n').slice(0, 2)]).toEqual([
      1,
      ['Skipped acme/none: the source does not publish it', 'Skipped someone/empty: it has no version'],
    ]);
  });

  it('finds a new version by diff', async () => {
    await replicate('acme/official', 'someone/community', '--usd', '1');
    const latest = { latest_version: { id: 'def456', openapi_schema: replicateDocument(files) } };
    server.models.set('someone/community', latest);
    const file = path.join(directory, 'replicate__someone-community.yaml');
    const { code, out } = await diff(file, '--api', `${server.url}/replicate`);
    expect([code, out.split('\n')[0]]).toEqual([
      1,
      'Changed replicate/someone-community: upstream.version: "abc123" is now "def456"',
    ]);
  });
});

const serverImport = () => [
  'catalog',
  'import',
  'openai-compatible',
  'lab',
  '--base-url',
  `${server.url}/openai`,
  '--to',
  directory,
  '--usd-per-million-input',
  '0.5',
  '--usd-per-million-output',
  '1.5',
];

describe('admin catalog import openai-compatible', () => {
  beforeEach(() => {
    server.served = [
      { id: 'Acme/Chat-7B', type: 'chat', max_model_len: 8192 },
      { id: 'acme-embed-2', type: 'embedding', context_length: 512 },
      { id: 'acme-tts', type: 'audio' },
    ];
  });

  it('declares the provider, and writes a row for each model that the server lists', async () => {
    const { code, out } = await runAdmin({ PROVIDER_LAB_KEY: 'key-of-lab' }, ...serverImport());
    expect([code, out.split('\n')[0]]).toEqual([
      1,
      'Skipped acme-tts: it is neither for chat, nor for embeddings, nor for images: its type is audio',
    ]);
    expect(server.keys).toContain('Bearer key-of-lab');
    expect(rowOf('lab')).toMatchObject({
      provider: 'lab',
      base: `${server.url}/openai`,
      stream: { member: 'stream', include_usage: true, end: '[DONE]' },
    });
    expect(rowOf('lab__acme-chat-7b')).toMatchObject({
      id: 'lab/acme-chat-7b',
      constants: { model: 'Acme/Chat-7B' },
      upstream: { path: 'chat/completions' },
      price: { usd: 5e-7, reported: [{ usd: 5e-7 }, { usd: 1.5e-6 }] },
    });
    expect(rowOf('lab__acme-embed-2')['upstream']).toEqual({ path: 'embeddings' });
    await expectValid();
  });

  it('names every entry that it leaves out', async () => {
    server.served = [
      null,
      { id: 7 },
      { id: 'gone', type: 'chat', active: false, context_window: 512 },
      { id: 'there', type: 'chat', active: true, context_window: 512 },
    ];
    const { code, out } = await runAdmin(env, ...serverImport());
    expect([code, out.split('\n').slice(0, 4)]).toEqual([
      1,
      [
        'Skipped entry 1 of the list: it has no id',
        'Skipped entry 2 of the list: it has no id',
        'Skipped gone: the server says that it is not active',
        '2 added, 0 updated, 0 unchanged, 0 kept, 3 skipped.',
      ],
    ]);
  });

  it('needs --context-tokens where the server does not state the length of the context', async () => {
    server.served = [{ id: 'plain', type: 'chat' }];
    expect((await runAdmin(env, ...serverImport())).out).toContain(
      'Skipped plain: the server does not state',
    );
    expect((await runAdmin(env, ...serverImport(), '--context-tokens', '4096')).code).toBe(0);
  });

  it('needs --kind where the server does not say what a model is for', async () => {
    server.served = [{ id: 'plain', object: 'model', max_model_len: 4096 }];
    expect((await runAdmin(env, ...serverImport())).out).toContain(
      'Skipped plain: the server does not say what it is for: give --kind',
    );
    expect((await runAdmin(env, ...serverImport(), '--kind', 'embedding')).code).toBe(0);
    expect(rowOf('lab__plain')['upstream']).toEqual({ path: 'embeddings' });
    expect((await runAdmin(env, ...serverImport(), '--kind', 'poem')).code).toBe(2);
  });

  it('imports only the models that --model names', async () => {
    const { out } = await runAdmin(env, ...serverImport(), '--model', 'acme-embed-2', 'acme-none');
    expect(out.split('\n').slice(0, 2)).toEqual([
      'Skipped acme-none: the source does not publish it',
      '2 added, 0 updated, 0 unchanged, 0 kept, 1 skipped.',
    ]);
    expect(filesIn(directory)).toEqual(['lab.yaml', 'lab__acme-embed-2.yaml']);
  });

  it('finds added and removed models, and changed prices, by diff', async () => {
    await runAdmin(env, ...serverImport());
    const priced = { id: 'priced', type: 'chat', context_length: 100, pricing: { input: 1, output: 2 } };
    server.served = [priced];
    const importPriced = serverImport().filter((word) => !/^(--usd.*|0\.5|1\.5)$/.test(word));
    await runAdmin(env, ...importPriced);
    server.served = [
      { id: 'acme-embed-2', type: 'embedding', context_length: 512 },
      { id: 'new-chat', max_model_len: 100 },
      { ...priced, pricing: { input: 1, output: 3 } },
    ];
    const { code, out } = await diff('lab', directory);
    expect([code, out.replaceAll(/\{.*\}/g, '…').split('\n')]).toEqual([
      1,
      [
        'Added new-chat',
        'Removed lab/acme-chat-7b (Acme/Chat-7B)',
        'Changed lab/priced: price: …',
        '3 rows compared: 1 models added, 1 removed, 0 deprecated, 1 changed, 0 skipped.',
        '',
      ],
    ]);
  });

  it('needs an address for a name that it does not know', async () => {
    const words = serverImport().filter((word) => word !== '--base-url' && !word.startsWith('http'));
    const { code, error } = await runAdmin(env, ...words);
    expect([code, error]).toEqual([expect.any(Number), expect.stringContaining('expected --base-url')]);
  });

  it('refuses the name of a built-in provider', async () => {
    const { code } = await runAdmin(env, ...serverImport().map((word) => (word === 'lab' ? 'openai' : word)));
    expect(code).toBe(2);
  });
});
