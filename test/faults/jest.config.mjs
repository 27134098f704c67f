import { slow, onServices, suite } from '../jest.base.mjs';

export default suite([onServices('faults', 'database', 'test/faults/**/*.spec.ts')], slow);
