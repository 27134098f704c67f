/** S3 signs for no longer. */
const maxSeconds = 7 * 24 * 60 * 60;

export function signedSeconds(expiresInSeconds: number): number {
  if (Number.isInteger(expiresInSeconds) && expiresInSeconds >= 1 && expiresInSeconds <= maxSeconds) {
    return expiresInSeconds;
  }
  throw new RangeError(`A signed URL lives 1 to ${maxSeconds} seconds, not ${expiresInSeconds}`);
}
