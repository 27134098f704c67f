import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Json } from '#schemas';
import type { HttpReply, Run } from '../contract.js';
import type { Phase } from '../condition.js';

/** The calls of a run that may return the result. */
export type ResultPhase = Exclude<Phase, 'upload'>;

export interface Fixture {
  phase: Phase | 'cancel';
  reply: { status: number; headers: Record<string, string>; body: Json };
  expect: Json;
}

/** The content of provider.json, for one protocol of a provider. */
export interface Facts {
  run: Omit<Run, 'body'>;
  /** The call whose reply is the result. */
  result: ResultPhase;
  submitPath: string;
  /** Where a submission's reply has its state: a place in its JSON, or a header. */
  state?: string;
  /**
   * How the caller's bytes become the body: wrapped in `{"name": …}`, as the only element of a list, with these members
   * first, or as a form. By default, they are the body.
   */
  encoding?: { envelope: string } | { list: string } | 'form';
  /** By default, `the-secret`. */
  secret?: string;
  /** Values by name; one that starts with `^` is a pattern. */
  credential: Record<string, string>;
  settings?: Record<string, string>;
  /** The places of files in the output, as in the rows of its models. By default, none. */
  assets?: string[];
  /** Every call after the submission, in order: poll, fetch, cancel. */
  calls: string[];
  skipped: Record<string, string>;
}

interface FixtureSet {
  facts: Facts;
  names: string[];
  load: (name: string) => Fixture;
  /** The reply of a fixture as it arrives. */
  reply: (name: string) => HttpReply;
}

const providers = join(import.meta.dirname, '..', 'providers');

/** The folder of replies that reject our account, which all protocols of a provider share. */
const accountFolder = 'account';

/** The fixture folder of a provider, or its subfolder for each protocol. */
export function fixtureFolders(provider: string): string[] {
  const folder = join(providers, provider, 'fixtures');
  if (existsSync(join(folder, 'provider.json'))) return [folder];
  return readdirSync(folder)
    .filter((name) => name !== accountFolder)
    .map((protocol) => join(folder, protocol));
}

/** The replies that reject our account, by name. Each name starts with the kind of problem. */
export function accountFixtures(provider: string): [name: string, reply: HttpReply][] {
  const folder = join(providers, provider, 'fixtures', accountFolder);
  return !existsSync(folder)
    ? []
    : readdirSync(folder).map((file) => {
        const { reply } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Pick<Fixture, 'reply'>;
        return [file.replace(/\.json$/, ''), arrived(reply)];
      });
}

export function openFixtures(folder: string): FixtureSet {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  const load = (name: string) => read(name) as Fixture;
  const names = readdirSync(folder)
    .map((file) => file.replace(/\.json$/, ''))
    .filter((name) => name !== 'provider' && name !== accountFolder);
  return {
    facts: read('provider') as Facts,
    names,
    load,
    reply: (name) => arrived(load(name).reply),
  };
}

const arrived = ({ status, headers, body }: Fixture['reply']): HttpReply =>
  replyOf(status, typeof body === 'string' ? body : JSON.stringify(body), headers);

export const replyOf = (status: number, body: string, headers: Record<string, string> = {}): HttpReply => ({
  status,
  headers,
  body: new TextEncoder().encode(body),
});
