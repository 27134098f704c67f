import { byStatus, failure, identified, json, modelNotFound, answer } from './answers.js';
import type { Route } from './route.js';

export function catalogRoutes(generation: 'v1' | 'v2'): Route[] {
  const facts = {
    method: 'GET',
    area: 'Catalog',
    credentials: generation === 'v1' ? 'access_token' : 'key_or_token',
    input: null,
  } as const;
  const model = `/${generation}/models/{provider}/{model}` as const;
  const what = generation === 'v1' ? 'input schema' : 'input and output schemas';
  return [
    {
      ...facts,
      path: `/${generation}/models`,
      name: `${generation}ListModels`,
      summary: 'List the models that can be run',
      description:
        'One page of the catalog, ordered by id: the models that the caller may see and run. Continue with `next_cursor` while `has_more` is true; a short page is not the end.',
      parameters: ['cursor', 'limit'],
      answers: byStatus(
        answer(200, 'One page.', json('RouterModelListResponse')),
        failure(
          400,
          ['invalid_input'],
          'The cursor is malformed or has expired, or the limit is no integer.',
        ),
        ...identified,
      ),
    },
    {
      ...facts,
      path: model,
      name: `${generation}GetModel`,
      summary: 'Read one model’s entry',
      description: '`input_schema_url` is there only when the input of the model is described.',
      parameters: ['provider', 'model'],
      answers: byStatus(answer(200, 'The entry.', json('RouterModelDetail')), modelNotFound, ...identified),
    },
    {
      ...facts,
      path: `${model}/openapi.json`,
      name: `${generation}GetModelDocument`,
      summary: `Read one model’s ${what}`,
      description: `The model’s ${what} as a standalone OpenAPI document: the same one that calls are validated with. Ask again with \`If-None-Match\` and an unchanged document costs nothing.`,
      parameters: ['provider', 'model', 'ifNoneMatch'],
      answers: byStatus(
        answer(200, 'The document.', json('RouterModelInputSchemaDocument'), {
          headers: ['ETag', 'Cache-Control'],
        }),
        answer(304, 'The document has not changed.', {}, { headers: ['ETag', 'Cache-Control'] }),
        modelNotFound,
        ...identified,
      ),
    },
  ];
}
