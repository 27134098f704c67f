/** The fifteen error buckets, as the page of a failed run explains them. */
export const buckets = {
  invalid_input: {
    name: 'Invalid input',
    meaning: 'The model rejected a field of the input.',
    action: 'Correct the field and run it again.',
  },
  content_policy_violation: {
    name: 'Content rejected',
    meaning: 'The provider rejected the request or its result. It will reject the same input again.',
    action: 'Change the prompt or the input files.',
  },
  provider_error: {
    name: 'Provider error',
    meaning: 'The provider failed, or returned something that isn’t a result.',
    action: 'Run it again. If it keeps happening, try another model or send your operator this run ID.',
  },
  provider_timeout: {
    name: 'Provider timeout',
    meaning: 'The provider didn’t finish within the model’s time limit.',
    action: 'Run it again, or ask for a shorter or smaller output.',
  },
  insufficient_credits: {
    name: 'Not enough credits',
    meaning: 'The workspace couldn’t pay for the run.',
    action: 'Ask your operator for credits, or wait for other runs to finish.',
  },
  model_not_found: {
    name: 'Model not found',
    meaning: 'No model that the workspace can see has this ID.',
    action: 'Pick a model from the list.',
  },
  unauthorized: {
    name: 'Unauthorized',
    meaning: 'The call had no valid key or token.',
    action: 'Use an active key.',
  },
  forbidden: {
    name: 'Forbidden',
    meaning: 'The key or token isn’t allowed to do this.',
    action: 'Use a key with this scope, or ask your operator for access.',
  },
  concurrency_limit_exceeded: {
    name: 'Too many runs',
    meaning: 'The workspace had reached its limit of concurrent runs or committed spend.',
    action: 'Use the queue, where runs wait for a slot.',
  },
  client_disconnected: {
    name: 'Cancelled',
    meaning: 'The run was cancelled, or its caller disconnected while it was still waiting.',
    action: 'Nothing. Run it again if you still want it.',
  },
  internal_error: {
    name: 'Internal error',
    meaning: 'The router failed. The provider may or may not have produced a result.',
    action: 'Send your operator this run ID. If you run it again, the provider may do the work twice.',
  },
  deadline_exceeded: {
    name: 'Deadline exceeded',
    meaning: 'The router stopped holding the call.',
    action: 'Collect the result with the same Idempotency-Key, or use the queue.',
  },
  not_enabled: {
    name: 'Not enabled',
    meaning: 'The router isn’t turned on for this workspace, or it has no key for the provider.',
    action: 'Ask your operator to turn it on, or to add the key.',
  },
  service_unavailable: {
    name: 'Service unavailable',
    meaning: 'The provider, or a service that the router depends on, had no capacity.',
    action: 'Run it again in a while. This clears up by itself.',
  },
  rate_limited: {
    name: 'Rate limited',
    meaning: 'The workspace had reached its limit of runs per minute.',
    action: 'Wait a minute, then run it again.',
  },
};
