import type { Facts, ResultPhase } from './fixtures.js';

const words = (text: string): string[] => text.trim().split(/\s+/);

const always = words(`
  submit-accepted submit-rejected-fields submit-rejected-sentence submit-busy submit-unavailable
  submit-model-gone
`);
const polled = words(`
  submit-without-handle poll-running poll-unknown-word poll-succeeded poll-failed poll-content-policy poll-lost
  poll-canceled
`);

/** The fixtures of a provider, by the call that returns its result. provider.json says why a fixture is missing. */
const byResult: Record<ResultPhase, string[]> = {
  submit: [...always, ...words('submit-content-policy submit-without-result')],
  poll: [...always, ...polled, 'poll-succeeded-without-result'],
  fetch: [
    ...always,
    ...polled,
    ...words(
      'fetch-succeeded fetch-succeeded-without-result fetch-rejected-fields fetch-content-policy fetch-failed',
    ),
  ],
};

export const requiredFixtures = ({ result, state }: Facts, cancels: boolean): string[] => [
  ...byResult[result],
  // If provider.json names the place of the state, the suite makes up an unknown word itself.
  ...(result === 'submit' && state === undefined ? ['submit-unknown-word'] : []),
  ...(cancels ? words('cancel-requested cancel-too-late') : []),
];
