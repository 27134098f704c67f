export const failure = {
  title: 'Couldn’t load this',
  fields: 'Some fields aren’t valid.',
  noBody: 'The service returned an error without details.',
  unreachable: 'Couldn’t reach the service. Check your connection. Nothing was sent twice.',
  retry: 'Try again',
  run: 'Run ID',
  call: 'Call ID',
  /** Advice after a failed call that isn't a run, by bucket. */
  otherAdvice: {
    invalid_input: 'Check the address and the values you entered.',
    model_not_found: 'Pick a model from the list.',
    unauthorized: 'Sign in again.',
    forbidden: 'Use a key with this scope, or ask your operator.',
    not_enabled: 'Your operator hasn’t turned this on.',
    rate_limited: 'Wait a minute.',
    internal_error: 'Try again. If it keeps happening, send your operator this ID.',
    service_unavailable: 'Try again in a moment.',
  } as Record<string, string>,
  /** After a failed run that the provider charges for, such as a stream that broke. */
  billed: (amount: string) =>
    `You were billed ${amount} for the part that the provider completed. Try again, or change the input.`,
  /** After a failed run that was not billed: whether money was spent, and what to do, by bucket. */
  advice: {
    invalid_input: 'You weren’t charged. Correct the input and run it again.',
    content_policy_violation:
      'The content was rejected. To see whether this model bills rejected content, check the About tab. Change the prompt and try again.',
    provider_error:
      'Failed runs aren’t billed. Try again. If it keeps failing, the provider can’t serve this input right now.',
    provider_timeout: 'Failed runs aren’t billed. The provider took too long. Try again later.',
    insufficient_credits: 'You weren’t charged. The workspace needs more credits.',
    model_not_found: 'You weren’t charged. Pick a model from the list.',
    unauthorized: 'You weren’t charged. Sign in again.',
    forbidden: 'You weren’t charged. Use a key with this scope, or ask your operator for access.',
    not_enabled: 'You weren’t charged. Your operator hasn’t turned this on.',
    concurrency_limit_exceeded: 'You weren’t charged. Wait for one of the workspace’s runs to finish.',
    rate_limited: 'You weren’t charged. Wait a minute, then run it again.',
    client_disconnected: 'The run was cancelled. If it never reached the provider, you weren’t charged.',
    internal_error:
      'The router failed, and the outcome may be unknown. Failed runs aren’t billed. Send your operator this ID, and check the run before you send it again.',
    deadline_exceeded:
      'The call stopped waiting, but the run continues. Its result will be on the run’s page.',
    service_unavailable: 'Failed runs aren’t billed. Try again in a moment.',
  } as Record<string, string>,
};
