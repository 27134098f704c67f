import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { vendors } from './vendors.js';

const folder = import.meta.dirname;
const gatewaySources = path.dirname(folder);
const textOf = (name: string) => readFileSync(path.join(gatewaySources, name), 'utf8');
const sources = readdirSync(gatewaySources, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

it.each(vendors)(
  'only the list imports the file or folder of $name, so that it can be removed',
  ({ name }) => {
    const importers = sources
      .filter((each) => !each.startsWith(path.join('vendors', name, '/')))
      .filter((each) => new RegExp(`/${name}(/[\\w.-]+)?\\.js'`).test(textOf(each)));
    expect(importers).toEqual([path.join('vendors', 'vendors.ts')]);
  },
);

it('every vendor has its own name and base, and none is named outside its file and the list', () => {
  expect(new Set(vendors.map(({ name }) => name)).size).toBe(vendors.length);
  const bases = vendors.flatMap((vendor) => ('base' in vendor ? [vendor.base] : []));
  expect(new Set(bases).size).toBe(bases.length);
  const common = [
    'call-fingerprint.ts',
    'form-input.ts',
    'serve-vendor.ts',
    'vendor-calls.ts',
    'vendor-forms.ts',
    'vendor-lists.ts',
    'vendor-models.ts',
    'vendors.module.ts',
  ];
  for (const file of common.map((each) => textOf(path.join('vendors', each))))
    expect(vendors.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'i').test(file))).toEqual([]);
});
