import { onServices, suite, units } from './test/jest.base.mjs';

/** @type {import('jest').Config} */
export default suite([
  units('unit', '{apps,libs}/**/*.spec.ts'),
  onServices('database', 'database', 'libs/**/*.db.spec.ts'),
  onServices('routes', 'gateways', 'test/routes/**/*.spec.ts'),
  onServices(
    'system',
    'systems',
    'test/{admin,assets,catalog,documents,models,partners,registry,runs,storage,transport}/**/*.spec.ts',
  ),
]);
