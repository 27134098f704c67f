import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { valueAt } from '#schemas';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('the document’s tag is the hash of its bytes', async () => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('GET', '/v2/models/bfl/flux-2-pro/openapi.json');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.headers.get('etag')).toBe(`"${createHash('sha256').update(answer.bytes).digest('hex')}"`);
  expect(answer.headers.get('cache-control')).toBe('private, max-age=300, must-revalidate');
  const document = answer.json() as { info: unknown; paths: Record<string, unknown> };
  expect(document.info).toMatchObject({ title: 'bfl/flux-2-pro' });
  expect(Object.keys(document.paths)).toEqual(['/v2/models/bfl/flux-2-pro']);
  expect(document).toHaveProperty('x-service-input-schema-authored', true);
});

it('the document describes the whole call: servers, credentials and every failure', async () => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('GET', '/v2/models/bfl/flux-2-pro/openapi.json');
  const document = answer.json() as { paths: Record<string, { post: { responses: object } }> };
  expect(document).toMatchObject({
    servers: [{ url: expect.any(String) }],
    externalDocs: { url: expect.stringMatching(/\/openapi\.json$/) },
    'x-service-output-modalities': ['image'],
    'x-service-price': { text: expect.stringContaining('$') },
    components: {
      schemas: { RouterErrorResponse: {}, RouterValidationErrorResponse: {} },
      securitySchemes: { apiKey: {} },
    },
  });
  const operation = document.paths['/v2/models/bfl/flux-2-pro']?.post;
  expect(operation).toMatchObject({
    security: [{ apiKey: [] }, { accessToken: [] }, { bearerKey: [] }],
    parameters: ['Idempotency-Key', 'X-Service-Tags', 'X-Service-User'].map((name) => ({
      name,
      in: 'header',
    })),
    responses: {
      '429': { headers: { 'X-Committed-Spend-Limit': {} } },
      '504': { headers: { 'Retry-After': {} } },
    },
  });
  expect(Object.keys(operation?.responses ?? {})).toEqual(
    expect.arrayContaining([
      '200',
      '400',
      '401',
      '402',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
      '502',
      '503',
      '504',
    ]),
  );
  expect(await new Validator().validate(answer.json())).toMatchObject({ valid: true });
  // Every reference in the document resolves.
  const text = JSON.stringify(document);
  for (const [, pointer = ''] of text.matchAll(/"#(\/components\/[^"]+)"/g))
    expect([pointer, valueAt(document, pointer) !== undefined]).toEqual([pointer, true]);
});

it('the document links to the queued routes: the submission, and from there state, result and cancellation', async () => {
  const { caller } = await gateway().caller();
  const document = (await caller.call('GET', '/v2/models/bfl/flux-2-pro/openapi.json')).json();
  const sync = valueAt(document, '/paths/~1v2~1models~1bfl~1flux-2-pro/post/responses/200/links/SubmitRun');
  const { operationRef, parameters } = sync as { operationRef: string; parameters: object };
  expect(parameters).toEqual({ provider: 'bfl', model: 'flux-2-pro' });
  const [address = '', pointer = ''] = operationRef.split('#');
  const service: unknown = await (
    await fetch(new URL(new URL(address, gateway().url).pathname, gateway().url))
  ).json();
  const submit = valueAt(service, decodeURIComponent(pointer)) as { operationId: string; responses: object };
  expect(submit.operationId).toBe('v2SubmitRun');
  const links = Object.values(valueAt(submit, '/responses/201/links') as object) as {
    operationId: string;
    parameters: object;
  }[];
  const { paths } = service as { paths: Record<string, Record<string, { operationId: string }>> };
  const found = links.map((link) =>
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { operationId }]) => operationId === link.operationId)
        .map(([method]) => `${method} ${path} ${Object.keys(link.parameters).join()}`),
    ),
  );
  const run = '/v2/models/{provider}/{model}/requests/{request_id}';
  expect(found).toEqual([
    [`get ${run}/status provider,model,request_id`],
    [`get ${run}/status/stream provider,model,request_id`],
    [`get ${run} provider,model,request_id`],
    [`put ${run}/cancel provider,model,request_id`],
  ]);
});
