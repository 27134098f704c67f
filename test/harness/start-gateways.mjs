import { startGateways } from '../../dist/test/harness/shared/gateways.js';
import { startServices } from '../../dist/test/harness/shared/services.js';

export default async () => {
  await startServices();
  await startGateways();
};
