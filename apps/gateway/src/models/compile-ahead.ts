import { setImmediate } from 'node:timers/promises';
import { type Catalog, inputErrors } from '#catalog';

/**
 * Compiles the input schema of every model, one a turn of the event loop: the first call of a model shall
 * not pay for it, and nobody shall wait for all of them.
 */
export async function compileAhead(catalog: Catalog): Promise<void> {
  for (const model of catalog.models) {
    await setImmediate();
    inputErrors(model, {});
  }
}
