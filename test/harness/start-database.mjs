// Jest loads these files outside of its own module system, so they import the build.
import { startServices } from '../../dist/test/harness/shared/services.js';

export default startServices;
