import { slow, onServices, suite } from '../jest.base.mjs';

export default suite([onServices('operations', 'database', 'test/operations/**/*.spec.ts')], slow);
