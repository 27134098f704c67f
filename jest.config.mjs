import { onServices, suite, units } from './test/jest.base.mjs';

/** @type {import('jest').Config} */
export default suite([
  units('unit', '{apps,libs}/**/*.spec.ts', 'test/{prices,protocols}/**/*.spec.ts'),
  onServices(
    'database',
    'database',
    'libs/**/*.db.spec.ts',
    'test/{admin,documents,models,registry,storage,transport}/**/*.spec.ts',
  ),
  onServices('routes', 'gateways', 'test/routes/**/*.spec.ts'),
  onServices('system', 'systems', 'test/{assets,catalog,clients,providers,runs}/**/*.spec.ts'),
]);
