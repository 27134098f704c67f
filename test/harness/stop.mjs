import { stopGateways } from '../../dist/test/harness/shared/gateways.js';
import { stopServices } from '../../dist/test/harness/shared/services.js';
import { stopSystems } from '../../dist/test/harness/shared/systems.js';

/** Fails the run if its files left something running or broke an invariant. */
export default async () => {
  const broken = [...(await stopSystems()), ...(await stopGateways()), ...(await stopServices())];
  if (broken.length > 0) throw new Error(broken.join('\n'));
};
