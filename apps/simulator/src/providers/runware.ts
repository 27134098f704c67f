import type { Provider, Protocol } from '../provider.js';

const task = (body: unknown): Record<string, unknown> => Object(Object(body)[0]) as Record<string, unknown>;

/** Callers choose the ID of a task, which must be unique. */
const inference = (kind: 'imageInference' | 'videoInference', deliveryMethod: string): Protocol => ({
  name: kind,
  submits: [
    {
      path: `/${kind}`,
      listed: true,
      idOf: ({ taskUUID }) => taskUUID,
      modelOf: (_params, { model, includeCost, deliveryMethod: given }) =>
        includeCost === true && given === deliveryMethod ? model : undefined,
      promptOf: ({ positivePrompt }) => positivePrompt,
      promptOptional: kind === 'videoInference',
    },
  ],
});

/** Has a single address for every kind of task. A call is a list of tasks. */
export const runware: Provider = {
  name: 'runware',
  addressOf: ({ body }) => `/${String(task(JSON.parse(body.toString()))['taskType'])}`,
  protocols: [
    inference('imageInference', 'sync'),
    {
      ...inference('videoInference', 'async'),
      poll: { method: 'POST', path: '/getResponse', idOf: ({ body }) => String(task(body)['taskUUID']) },
    },
  ],
};
