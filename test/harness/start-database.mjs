// Jest loads these files outside of its own module system, so they start what was built.
import { startServices } from '../../dist/test/harness/shared/services.js';

export default startServices;
