import { byStatus, json, answer } from './answers.js';
import type { Answer, Route } from './route.js';

const facts = {
  method: 'GET',
  area: 'Service',
  credentials: 'none',
  parameters: [],
  input: null,
} as const satisfies Partial<Route>;

/** Outside /v1 and /v2 failures have the registry's shape and name no bucket. */
const failed = answer(500, 'The service failed.', json('ErrorResponse'));

const plain: Answer['content'] = { 'text/plain': null };

export const serviceRoutes: Route[] = [
  {
    ...facts,
    path: '/openapi.json',
    name: 'getServiceDocument',
    summary: 'Read this reference as OpenAPI',
    description:
      'The whole service as one OpenAPI 3.1 document. The fields of a model’s own input are in that model’s document.',
    parameters: ['ifNoneMatch'],
    answers: byStatus(
      answer(200, 'The document.', { 'application/json': null }, { headers: ['ETag', 'Cache-Control'] }),
      answer(304, 'The document has not changed.', {}, { headers: ['ETag', 'Cache-Control'] }),
      failed,
    ),
  },
  {
    ...facts,
    path: '/docs',
    name: 'getReference',
    summary: 'Read this reference as a page',
    description: 'The same document for people. It loads nothing from elsewhere and runs no script.',
    answers: byStatus(
      answer(200, 'The page.', { 'text/html': null }, { headers: ['Cache-Control'] }),
      failed,
    ),
  },
  {
    ...facts,
    path: '/docs/models/{provider}/{model}',
    name: 'getModelPage',
    summary: 'Read about a model, and try it',
    description:
      'A page for each model. It asks for an API key or an access token, shows what the model’s own document says, and has a form that runs the model.',
    parameters: ['provider', 'model'],
    answers: byStatus(
      answer(
        200,
        'The page, also where there is no such model.',
        { 'text/html': null },
        { headers: ['Cache-Control'] },
      ),
      answer(404, 'The path names no model.', json('ErrorResponse')),
      failed,
    ),
  },
  {
    ...facts,
    path: '/docs/files/{name}',
    name: 'getPageFile',
    summary: 'Read a file of these pages',
    description: 'The script and the style sheet that the page of a model is made with.',
    parameters: ['fileName', 'ifNoneMatch'],
    answers: byStatus(
      answer(
        200,
        'The file.',
        { 'text/css': null, 'text/javascript': null },
        { headers: ['ETag', 'Cache-Control'] },
      ),
      answer(304, 'The file has not changed.', {}, { headers: ['ETag', 'Cache-Control'] }),
      answer(404, 'There is no such file.', json('ErrorResponse')),
      failed,
    ),
  },
  {
    ...facts,
    path: '/assets/{key}',
    name: 'getAsset',
    summary: 'Open a copied asset',
    description:
      'Where the signed links in results lead when assets are kept as files; with S3 they lead there. A link opens its asset until it expires, for everyone who has it.',
    parameters: ['assetKey', 'expires', 'signature'],
    answers: byStatus(
      answer(200, 'The asset, with its own media type.', { '*/*': null }, { headers: ['Cache-Control'] }),
      answer(404, 'There is no such asset, or its link has expired.', json('ErrorResponse')),
      failed,
      answer(503, 'The asset cannot be read now; retry.', json('ErrorResponse')),
    ),
  },
  {
    ...facts,
    path: '/health/live',
    name: 'getLiveness',
    summary: 'Ask whether the process lives',
    description: '',
    answers: byStatus(answer(200, 'It does.', plain), failed),
  },
  {
    ...facts,
    path: '/health/ready',
    name: 'getReadiness',
    summary: 'Ask whether calls should be sent here',
    description: 'Ready means that the database answers and that the process is not stopping.',
    answers: byStatus(answer(200, 'They should.', plain), answer(503, 'They should not.', plain), failed),
  },
];
