import { startServices } from '../../dist/test/harness/shared/services.js';
import { startSystems } from '../../dist/test/harness/shared/systems.js';

export default async () => {
  await startServices();
  await startSystems();
};
