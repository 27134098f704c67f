import { checkInput, type Model, upperBoundMicros } from '#catalog';
import { parseInput } from './parse-input.js';

/**
 * Checks the body against the model and returns the most the call can cost, in micro-dollars. Throws
 * `InputRejection` for failing fields and `invalid_input`, 400, for what is not a bearable JSON object.
 */
export function checkBody(model: Model, bytes: Buffer): number {
  const input = parseInput(bytes);
  checkInput(model, input);
  return upperBoundMicros(model, input);
}
