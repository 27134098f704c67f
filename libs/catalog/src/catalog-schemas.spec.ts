import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { catalogSchemas } from './check-catalog.js';
import { builtInDirectories } from './load-catalog.js';

const providers = join(import.meta.dirname, '../../providers/src/providers');

const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
const validators = {
  model: ajv.compile(catalogSchemas.model()),
  provider: ajv.compile(catalogSchemas.provider()),
};
const yamlIn = (directory: string) =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(directory, name));

function problems(kind: keyof typeof validators, row: unknown): unknown[] {
  validators[kind](row);
  return (validators[kind].errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('the JSON Schemas for editors', () => {
  it.each([
    ['model', builtInDirectories().flatMap(yamlIn)],
    ['provider', readdirSync(providers).flatMap((name) => yamlIn(join(providers, name)))],
  ] as const)('accept every built-in %s', (kind, files) => {
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) {
      expect([
        file,
        problems(kind, parse(readFileSync(file, 'utf8'), { version: '1.2', schema: 'core' })),
      ]).toEqual([file, []]);
    }
  });

  it('accept the example of a price in the documentation', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/operations/catalog.md'), 'utf8');
    const [, example = ''] = /```yaml\n([^`]+)```/.exec(page) ?? [];
    const row = { id: 'a/b', upstream: { path: 'b' }, charges_on_policy_rejection: 'no' };
    expect(problems('model', { ...row, ...(parse(example) as object) })).toEqual([]);
    expect(example).toContain('reported:');
  });

  it('reject a misspelled field', () => {
    expect(problems('model', { id: 'a/b', hiden: true })).not.toEqual([]);
    expect(problems('provider', { provider: 'a', bas: 'https://a.example' })).not.toEqual([]);
  });
});
