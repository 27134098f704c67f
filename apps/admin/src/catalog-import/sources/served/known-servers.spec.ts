import { expect, it } from '@jest/globals';
import { declaredProvider, providerList } from '#providers';
import { knownServers } from './known-servers.js';
import { declarationOf } from './served-rows.js';

it.each(Object.entries(knownServers))(
  '%s has a name of its own, and a valid declaration',
  (name, { base, check }) => {
    expect(providerList.map((provider) => provider.name)).not.toContain(name);
    const { row } = declarationOf(name, base);
    expect(declaredProvider(row)).toMatchObject({ definition: { name, defaultBase: base } });
    expect('check' in row).toBe(check !== undefined);
  },
);

it('another address has no check, because its document is not about it', () => {
  expect(declarationOf('deepseek', 'https://proxy.example/v1').row).not.toHaveProperty('check');
});
