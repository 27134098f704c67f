import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { pathOf, textOf } from '../../documents/checkout-files.js';
import { composed, demanded } from './compose.js';
import { copied, readDockerfile, type Stage } from './dockerfile.js';

const { head, stages } = readDockerfile('docker/Dockerfile');
const names = stages.map(({ name }) => name);

/** A stage with everything it inherits from stages of the same file, base first. */
function whole(stage: Stage): Stage['instructions'] {
  const base = stages.find(({ name }) => name === stage.base);
  return [...(base ? whole(base) : []), ...stage.instructions];
}

const final = whole(stages.at(-1) as Stage);
const last = (keyword: string): string | undefined =>
  final.findLast((instruction) => instruction.keyword === keyword)?.rest;

describe('docker/Dockerfile', () => {
  const copies = stages.flatMap((stage) =>
    stage.instructions.filter(({ keyword }) => keyword === 'COPY').map(copied),
  );

  it('copies only existing files that .dockerignore allows', () => {
    const ignore = textOf('.dockerignore').split('\n');
    expect(ignore).toContain('*');
    const sources = copies.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources);
    expect(sources.filter((source) => !existsSync(pathOf(source)))).toEqual([]);
    expect(sources.filter((source) => !ignore.includes(`!${source}`))).toEqual([]);
    const allowed = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(allowed.filter((path) => !sources.includes(path))).toEqual([]);
  });

  it('copies only from earlier stages', () => {
    for (const [index, stage] of stages.entries()) {
      const from = stage.instructions
        .filter(({ keyword }) => keyword === 'COPY')
        .map((each) => copied(each).from);
      expect(from.filter((name) => name !== undefined && !names.slice(0, index).includes(name))).toEqual([]);
    }
  });

  it('takes its base images as arguments', () => {
    const defaults = new Map(head.map(({ rest }) => rest.split('=') as [string, string]));
    const bases = stages.map(({ base }) => base).filter((base) => !names.includes(base));
    expect(new Set(bases)).toEqual(new Set([...defaults.keys()].map((name) => `\${${name}}`)));
  });

  it('runs nothing in the final stage, which contains no tools', () => {
    expect(final.filter(({ keyword }) => keyword === 'RUN')).toEqual([]);
    const install = stages[0]?.instructions.find(({ rest }) => rest.startsWith('npm ci'))?.rest;
    expect(install).toContain('--ignore-scripts');
    const packages = final.filter(
      ({ rest }) => rest.includes('node_modules') || rest.includes('/app/loaded/'),
    );
    expect(packages.map((instruction) => copied(instruction).sources)).toEqual([['/app/loaded/router']]);
  });

  it('runs without privileges, in production, with a health check, and the gateway by default', () => {
    expect(last('USER')).toBe('65532:65532');
    expect(final).toContainEqual({ keyword: 'ENV', rest: 'NODE_ENV=production' });
    expect(final).toContainEqual({ keyword: 'ENV', rest: 'NODE_OPTIONS=--max-old-space-size=768' });
    expect(last('HEALTHCHECK')).toContain('"docker/health.mjs"');
    expect(last('ENTRYPOINT')).toContain('"docker/entry.mjs"');
    expect(last('CMD')).toBe('["gateway"]');
  });

  it('passes --env-file to the app, as compose does, although Node has an option of that name', () => {
    const { admin } = composed(Object.fromEntries(demanded.map((name) => [name, name]))).services;
    const image = [...(JSON.parse(last('ENTRYPOINT') ?? '[]') as string[]), 'admin'];
    for (const [, ...words] of [image, admin?.entrypoint ?? []]) {
      const command = [...words, '--env-file', 'nowhere.env', 'workspace', 'list'];
      const { status, stderr } = spawnSync(process.execPath, command, { cwd: pathOf('.'), encoding: 'utf8' });
      expect(stderr).toMatch(/^error: nowhere\.env cannot be read: [^\n]+\n$/);
      expect(status).toBe(1);
    }
  });
});
