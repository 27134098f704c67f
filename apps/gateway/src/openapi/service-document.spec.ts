import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { type BucketFacts, buckets } from '#errors';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Controller, Get } from '@nestjs/common';
import { GatewayModule } from '../gateway.module.js';
import { controllersOf } from '../built-document.js';
import { serviceDocument } from './service-document.js';

const controllers = controllersOf(GatewayModule);
const document = serviceDocument(controllers, 'https://router.example.com');
const text = JSON.stringify(document);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
    answers: Object.entries(operation.responses).map(([status, response]) => ({
      status: Number(status),
      headers: Object.keys(response.headers),
      buckets: response['x-service-error-types'] ?? [],
    })),
  })),
);

/** Resolves the JSON pointer of a reference. */
const target = (reference: string): unknown =>
  reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);

describe('the service document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(JSON.parse(text) as Record<string, unknown>)).toEqual({
      valid: true,
    });
  });

  it('resolves every reference and describes every schema', () => {
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference);
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((reference) => target(reference) === undefined)).toEqual([]);
    for (const schema of Object.values(document.components.schemas)) {
      expect(schema.description).toEqual(expect.any(String));
    }
  });

  it('contains no leftovers of the schemas that it is made from', () => {
    expect(text).not.toMatch(/"(id|\$id|\$schema|example|propertyNames|additionalProperties)":("|false)/);
    expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  it('has unique operation ids, every path parameter, and a description for each parameter', () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { path, parameters = [] } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(inPath);
      for (const { description } of parameters) expect(description).toEqual(expect.any(String));
    }
  });

  it('cannot be made for a route without a description', () => {
    @Controller('undeclared')
    class Undeclared {
      @Get()
      read(): void {}
    }
    expect(() => serviceDocument([...controllers, Undeclared], undefined)).toThrow(
      'read of /undeclared has no @ApiRoute',
    );
  });
});

describe.each(operations)('$method $path', ({ path, answers }) => {
  it('names only buckets that have the status', () => {
    for (const answer of answers) {
      for (const bucket of answer.buckets) {
        const { status, otherStatuses = [] }: BucketFacts = buckets[bucket];
        expect([status, ...otherStatuses]).toContain(answer.status);
      }
      const isRouter = /^\/v[12]\//.test(path);
      expect(answer.buckets.length > 0).toBe(isRouter && answer.status >= 400);
      expect(answer.headers.includes('X-Service-Error-Type')).toBe(answer.buckets.length > 0);
      expect(answer.headers).toContain('X-Service-Request-Id');
    }
  });
});

// The statuses and headers that the interface promises, besides the two headers of every answer.
const spend = ['X-Committed-Spend-Limit', 'X-Committed-Spend-Current', 'X-Committed-Spend-Remaining'];
const cached = ['ETag', 'Cache-Control'];
const plain = (...statuses: number[]) => statuses.map((status): [number, string[]] => [status, []]);
const oneModel = '/models/{provider}/{model}';
const run: [number, string[]][] = [...plain(200, 403, 404, 422, 503), [429, spend], [504, ['Retry-After']]];
const documents: [number, string[]][] = [[200, cached], [304, cached], ...plain(401, 403, 404, 500, 503)];
const promised: [method: string, path: string, answers: [number, string[]][]][] = [
  ['GET', '/v1/models', plain(200, 400, 401, 403, 503)],
  ['GET', `/v1${oneModel}`, plain(200, 403, 404, 503)],
  ['POST', `/v1${oneModel}`, run],
  ['GET', `/v1${oneModel}/openapi.json`, documents],
  ['GET', '/v2/models', plain(200, 401)],
  ['GET', `/v2${oneModel}`, plain(200, 401, 404)],
  ['POST', `/v2${oneModel}`, [...run, ...plain(401)]],
  ['GET', `/v2${oneModel}/openapi.json`, documents],
  ['GET', '/v2/models/llms.txt', [[200, ['Cache-Control']], ...plain(400, 401)]],
  ['GET', `/v2${oneModel}/llms.txt`, [[200, ['Cache-Control']], ...plain(401, 404)]],
  ['POST', `/v2${oneModel}/requests`, plain(201, 401, 422)],
  ['GET', `/v2${oneModel}/requests/{request_id}`, plain(200, 202, 401, 404, 409, 410)],
  ['PUT', `/v2${oneModel}/requests/{request_id}/cancel`, plain(202, 400, 401, 404, 410)],
  ['GET', `/v2${oneModel}/requests/{request_id}/status`, plain(200, 401, 404, 410)],
  ['GET', `/v2${oneModel}/requests/{request_id}/status/stream`, plain(200, 401, 404, 410)],
  ['GET', `/v2${oneModel}/samples`, [[200, ['Cache-Control']], ...plain(401, 404)]],
  ['POST', `/v2${oneModel}/cost`, plain(200, 400, 401, 403, 404, 413, 415, 422)],
  ['POST', '/v2/sign-in', plain(200, 401)],
  ['POST', '/v2/sign-in/links', plain(201, 401, 403)],
  ['GET', '/v2/sign-in/provider', plain(200)],
  ['GET', '/v2/sign-in/begin', plain(302, 404)],
  ['GET', '/v2/sign-in/callback', plain(302, 404)],
  ['GET', '/v2/webhooks/secret', plain(200, 401, 403)],
  ['POST', '/v2/webhooks/secret', plain(200, 401, 403)],
  ['POST', '/v2/files', plain(201, 400, 401, 403, 413, 415, 429)],
  ['GET', '/v2/files', plain(200, 400, 401, 403)],
  ['GET', '/v2/files/{file_id}', plain(200, 401, 403, 404)],
  ['DELETE', '/v2/files/{file_id}', plain(204, 401, 403, 404)],
  ['GET', '/v2/clients/{name}', plain(302, 401, 403, 404)],
  ['GET', '/v2/clients/{digest}/{name}', [[200, cached], [304, cached], ...plain(401, 403, 404)]],
  ['GET', '/v2/requests', plain(200, 400, 401, 403)],
  ['GET', '/v2/requests/{request_id}', plain(200, 401, 403, 404)],
  ['DELETE', '/v2/requests/{request_id}', plain(204, 401, 403, 404, 409)],
  ['PUT', '/v2/requests/{request_id}/kept', plain(204, 401, 403, 404, 409, 410, 429)],
  ['DELETE', '/v2/requests/{request_id}/kept', plain(204, 401, 403, 404)],
  ['PUT', '/v2/requests/{request_id}/share', plain(200, 401, 403, 404, 409, 410)],
  ['DELETE', '/v2/requests/{request_id}/share', plain(204, 401, 403, 404)],
  ['GET', '/v2/shared/{token}', plain(200, 404)],
  ['GET', '/v2/shared/{token}/input', plain(200, 404)],
  ['GET', '/v2/shared/{token}/output', plain(200, 404)],
  ['GET', '/v2/requests/{request_id}/input', plain(200, 401, 403, 404, 410)],
  ['GET', '/v2/webhooks/deliveries', plain(200, 400, 401, 403)],
  ['GET', '/v2/webhooks/deliveries/{request_id}', plain(200, 401, 403, 404)],
  ['POST', '/v2/webhooks/deliveries/{request_id}/redeliver', plain(202, 401, 403, 404)],
  ['POST', '/v2/webhooks/test', plain(202, 400, 401, 403, 429)],
  ['GET', '/v2/usage', plain(200, 400, 401, 403)],
  ['GET', '/v2/ledger', plain(200, 400, 401, 403)],
  ['GET', '/v2/refusals', plain(200, 400, 401, 403)],
  ['GET', '/v2/workspace', plain(200, 401, 403)],
  ['PATCH', '/v2/workspace', plain(200, 400, 401, 403, 413, 415)],
  ['GET', '/v2/budgets', plain(200, 401, 403)],
  ['GET', '/v2/budgets/{name}', plain(200, 401, 403, 404)],
  ['GET', '/v2/budgets/{name}/values', plain(200, 400, 401, 403, 404)],
  ['PUT', '/v2/budgets/{name}', plain(200, 400, 401, 403)],
  ['DELETE', '/v2/budgets/{name}', plain(204, 401, 403, 404)],
  ['GET', '/v2/keys', plain(200, 401, 403)],
  ['POST', '/v2/keys', plain(201, 400, 401, 403)],
  ['POST', '/v2/keys/{key_id}/rotate', plain(201, 400, 401, 403, 404, 409)],
  ['DELETE', '/v2/keys/{key_id}', plain(204, 401, 403, 404)],
  ['GET', '/v2/provider-keys', plain(200, 401, 403)],
  ['GET', '/v2/provider-keys/{provider}', plain(200, 401, 403, 404)],
  ['PUT', '/v2/provider-keys/{provider}', plain(200, 400, 401, 403, 404, 429, 503)],
  ['DELETE', '/v2/provider-keys/{provider}', plain(204, 401, 403, 404)],
  ['GET', '/v2/operator/workspaces', plain(200, 400, 401, 403)],
  ['POST', '/v2/operator/workspaces', plain(201, 400, 401, 403, 409)],
  ['POST', '/v2/operator/workspaces/{workspace}/sign-in-links', plain(201, 400, 401, 403, 404, 409)],
  ['GET', '/v2/operator/workspaces/{workspace}', plain(200, 401, 403, 404)],
  ['PATCH', '/v2/operator/workspaces/{workspace}', plain(200, 400, 401, 403, 404, 413, 415)],
  ['GET', '/v2/operator/providers', plain(200, 401, 403)],
  ['GET', '/v2/operator/providers/{provider}', plain(200, 401, 403, 404)],
  ['POST', '/v2/operator/providers/{provider}/check', plain(200, 401, 403, 404)],
  ['POST', '/v2/operator/providers/{provider}/pause', plain(200, 400, 401, 403, 404)],
  ['DELETE', '/v2/operator/providers/{provider}/pause', plain(200, 401, 403, 404)],
  ['GET', '/v2/operator/audit', plain(200, 400, 401, 403, 404)],
  ['POST', '/v2/operator/runs/{request_id}/refund', plain(200, 400, 401, 403, 404, 409)],
  ['PUT', '/v2/operator/samples/{request_id}', plain(204, 401, 403, 404, 409, 410, 429)],
  ['DELETE', '/v2/operator/samples/{request_id}', plain(204, 401, 403, 404)],
  ['GET', '/v2/operator/queues', plain(200, 401, 403)],
  ['GET', '/v2/operator/runs', plain(200, 400, 401, 403)],
  ['GET', '/v2/operator/runs/{request_id}', plain(200, 401, 403, 404)],
  ['GET', '/v2/operator/providers/{provider}/attempts', plain(200, 401, 403, 404)],
];

it.each(promised)('%s %s has the promised answers, with their headers', (method, path, answers) => {
  const operation = operations.find((each) => each.method === method && each.path === path);
  for (const [status, names] of answers) {
    const answer = operation?.answers.find((each) => each.status === status);
    expect([status, answer?.headers]).toEqual([status, expect.arrayContaining(names)]);
  }
});

it('has exactly the promised router routes', () => {
  const router = operations.filter(({ path }) => /^\/v[12]\//.test(path));
  const wanted = promised.map(([method, path]) => `${method} ${path}`);
  expect(router.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(wanted.sort());
});
