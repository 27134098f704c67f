import 'reflect-metadata';
import { BadCatalog } from '#catalog';
import { BadSettings } from '#schemas';
import { Refusal, startGateway } from './start-gateway.js';

try {
  await startGateway(process.env);
} catch (error) {
  // These say all there is to say; anything else is a fault and shows where it came from.
  const expected = error instanceof BadSettings || error instanceof BadCatalog || error instanceof Refusal;
  process.stderr.write(
    `${expected ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exit(1);
}
