/** Where the pieces of a run lie in the store. The same piece always has the same key: a repeated put is no second object. */
export const runKeys = {
  input: (runId: string) => `runs/${runId}/input`,
  /** A reply that is too large for a row, as the partner gave it. */
  reply: (runId: string) => `runs/${runId}/reply`,
  /** The same with the URLs of copied assets in it. */
  output: (runId: string) => `runs/${runId}/output`,
  /** `extension` with its dot, or empty. */
  asset: (runId: string, index: number, extension: string) => `runs/${runId}/assets/${index}${extension}`,
};

/** Where a caller's file lies; the ending, with its dot or empty, is for partners that go by the names in URLs. */
export const fileKey = (fileId: string, extension: string): string => `files/${fileId}${extension}`;
