import { MemberPlaces } from '#schemas';
import { inputLimits, tooComplex } from '../bodies/parse-input.js';

/**
 * Finds members of a body while it arrives. `seen` throws `invalid_input`, 400, for the first chunk with which the body
 * exceeds the limits of inputs, so that the rest of a hostile body is not read.
 */
export function scannedMembers(wanted: readonly string[]) {
  const members = new MemberPlaces(wanted, inputLimits);
  const seen = (chunk: Uint8Array): void => {
    const excess = members.add(chunk);
    if (excess !== undefined) throw tooComplex(excess);
  };
  return { members, seen };
}
