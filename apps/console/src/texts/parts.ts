export const parts = {
  copy: 'Copy',
  copied: 'Copied',
  loading: 'Loading',
  close: 'Close',
  unlimited: 'Unlimited',
  status: {
    IN_QUEUE: 'Queued',
    IN_PROGRESS: 'Running',
    COMPLETED: 'Succeeded',
    failed: 'Failed',
    cancelled: 'Cancelled',
  },
  simulated: 'Simulated',
  simulatedText: 'The simulator answers in place of the provider. Nothing is generated.',
  of: (current: string, limit: string) => `${current} of ${limit}`,
  more: 'Load more',
  cancel: 'Cancel',
  notDone: 'That didn’t work',
  needsScope: (scope: string) =>
    `This needs the “${scope}” scope, which your key or token lacks. Sign in with one that has it.`,
};
