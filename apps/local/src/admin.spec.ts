import { afterEach, expect, it } from '@jest/globals';
import { AdminProgram } from './admin.js';
import { StartFailure } from './start-failure.js';

const stopping = new AbortController();
const nowhere = { DATABASE_URL: 'postgres://app@127.0.0.1:1/none' };
let program: AdminProgram | undefined;
afterEach(() => program?.close());

it('runs several commands at once, each with settings and a failure of its own', async () => {
  program = new AdminProgram(process.env, stopping.signal);
  const admin = program.with(nowhere);
  const failing = [
    admin('migrate'),
    program.with({ ...nowhere, JWT_SECRET: '' })('token', 'create', '--workspace', 'demo'),
  ];
  const reasons = (await Promise.allSettled(failing)).map(
    (each) => each.status === 'rejected' && each.reason,
  );
  expect(reasons).toEqual([
    new StartFailure('admin migrate: error: connect ECONNREFUSED 127.0.0.1:1'),
    expect.objectContaining({ message: expect.stringMatching(/^admin token create: error: .*JWT_SECRET/) }),
  ]);
  expect(await admin('catalog', 'check')).toMatchObject({ problems: [] });
});

it('fails what runs when the launcher is asked to stop', async () => {
  const asked = new AbortController();
  program = new AdminProgram(process.env, asked.signal);
  const running = program.with(nowhere)('catalog', 'check');
  asked.abort();
  await expect(running).rejects.toThrow('aborted');
});

it('fails what comes when it has ended', async () => {
  program = new AdminProgram(process.env, stopping.signal);
  void program.close();
  await expect(program.with(nowhere)('migrate')).rejects.toThrow('Channel closed');
});
