import { expect, it } from '@jest/globals';
import { modelPath } from './model-path.js';

it.each([
  ['bfl/flux-2-pro', '/v2/models/bfl/flux-2-pro'],
  ['vertexai/gemini-2.5-flash', '/v2/models/vertexai/gemini-2.5-flash'],
  ['bfl/flux-2-pro/requests', '/v2/models/bfl/flux-2-pro%2Frequests'],
  ['bfl/flux-2-pro?model_provider=x', '/v2/models/bfl/flux-2-pro%3Fmodel_provider%3Dx'],
  ['bfl/flux-2-pro#cost', '/v2/models/bfl/flux-2-pro%23cost'],
  ['bfl/../keys', '/v2/models/bfl/..%2Fkeys'],
])('%s is at %s', (model, path) => {
  expect(modelPath(model)).toBe(path);
});
