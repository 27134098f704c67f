import { expect, it } from '@jest/globals';
import semver from 'semver';
import { textOf } from './checkout-files.js';

interface Package {
  engines?: { node?: string };
  dev?: boolean;
}

const { packages } = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, Package> };
const lowest = semver.minVersion(packages['']?.engines?.node ?? '');

it('no package refuses the lowest Node that installs it, except the types of Kubernetes objects', () => {
  const refusing = Object.entries(packages).filter(
    ([, { engines }]) => lowest && !semver.satisfies(lowest, engines?.node ?? '*'),
  );
  expect(lowest?.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(refusing.filter(([name]) => !name.includes('kubernetes-models'))).toEqual([]);
  expect(refusing.filter(([, { dev }]) => dev !== true)).toEqual([]);
});
