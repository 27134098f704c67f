import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { compatClients } from '../compat/settings.js';
import { vendors } from './vendors.js';

const folder = import.meta.dirname;
const gatewaySources = path.dirname(folder);
const textOf = (name: string) => readFileSync(path.join(gatewaySources, name), 'utf8');
const sources = readdirSync(gatewaySources, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
);

it.each(vendors)('only the list imports the file of $name, so that it can be removed', ({ name }) => {
  const importers = sources.filter((each) => textOf(each).includes(`/${name}.js'`));
  expect(importers).toEqual([path.join('vendors', 'vendors.ts')]);
});

it('every vendor has its own name and base, and none is named outside its file and the list', () => {
  const names = [...vendors.map(({ name }) => name), ...Object.keys(compatClients)];
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(vendors.map(({ base }) => base)).size).toBe(vendors.length);
  const common = [
    'serve-vendor.ts',
    'vendor-calls.ts',
    'vendor-forms.ts',
    'form-input.ts',
    'vendor-models.ts',
    'vendors.module.ts',
    'member-text.ts',
  ];
  for (const file of common.map((each) => textOf(path.join('vendors', each))))
    expect(vendors.filter(({ name }) => file.toLowerCase().includes(name))).toEqual([]);
});
