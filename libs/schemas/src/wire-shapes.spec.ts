import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { z } from 'zod';
import { bucketNames } from '#errors';
import {
  registryErrorResponse,
  routerErrorResponse,
  routerErrorType,
  routerModelDetail,
  routerModelId,
  routerModelListResponse,
  routerModelSegment,
  routerPageCursor,
  routerProviderSegment,
  routerQueueCancelResponse,
  routerQueueRequestId,
  routerQueueStatus,
  routerQueueStatusResponse,
  routerQueueSubmitResponse,
  routerValidationErrorResponse,
} from './index.js';
import { routerQueueUrls } from './queue-shapes.js';

const requestId = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const urls = {
  status_url: 'https://router.example/v2/models/bfl/flux-2-pro/requests/x/status',
  response_url: 'https://router.example/v2/models/bfl/flux-2-pro/requests/x',
  cancel_url: 'https://router.example/v2/models/bfl/flux-2-pro/requests/x/cancel',
};
const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

describe('identifiers', () => {
  it('accepts two valid segments as an id, and never three', () => {
    const part = fc.stringMatching(/^[a-z0-9]{1,8}([._-][a-z0-9]{1,8}){0,3}$/);
    fc.assert(
      fc.property(part, part, part, (provider, model, third) => {
        expect(accepts(routerProviderSegment, provider)).toBe(true);
        expect(accepts(routerModelSegment, model)).toBe(true);
        expect(accepts(routerModelId, `${provider}/${model}`)).toBe(true);
        expect(accepts(routerModelId, `${provider}/${model}/${third}`)).toBe(false);
      }),
    );
  });

  it.each(['', 'Flux', 'a--b', '-a', 'a-', 'a/b', 'ä', 'a b', 'a\n', 'a'.repeat(129)])(
    'rejects %j as a model segment',
    (text) => expect(accepts(routerModelSegment, text)).toBe(false),
  );

  it('limits the lengths', () => {
    expect(accepts(routerProviderSegment, 'a'.repeat(64))).toBe(true);
    expect(accepts(routerProviderSegment, 'a'.repeat(65))).toBe(false);
    expect(accepts(routerModelId, `${'a'.repeat(64)}/${'b'.repeat(128)}`)).toBe(true);
    expect(accepts(routerPageCursor, 'c'.repeat(513))).toBe(false);
    expect(accepts(routerPageCursor, '')).toBe(false);
  });

  it('accepts a request id only in lower case', () => {
    expect(accepts(routerQueueRequestId, requestId)).toBe(true);
    expect(accepts(routerQueueRequestId, requestId.toUpperCase())).toBe(false);
  });
});

describe('closed sets', () => {
  it('has fifteen error types, which are the buckets', () => {
    expect(routerErrorType.options).toEqual(bucketNames);
    expect(bucketNames).toHaveLength(15);
  });

  it('has three queue states', () => {
    expect(routerQueueStatus.options).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
  });
});

describe('field names and their order', () => {
  it.each([
    [routerQueueUrls, ['status_url', 'response_url', 'cancel_url']],
    [
      routerQueueSubmitResponse,
      ['request_id', 'status', 'queue_position', 'status_url', 'response_url', 'cancel_url'],
    ],
    [
      routerQueueStatusResponse,
      ['request_id', 'status', 'queue_position', 'error_type', 'status_url', 'response_url', 'cancel_url'],
    ],
    [routerQueueCancelResponse, ['request_id', 'status']],
    [routerModelDetail, ['id', 'provider', 'model', 'billing', 'input_schema_url']],
    [routerModelListResponse, ['data', 'has_more', 'next_cursor', 'limit']],
    [routerErrorResponse, ['detail', 'error_type']],
    [registryErrorResponse, ['error', 'message']],
  ])('%#', (schema, names) => expect(Object.keys(schema.shape)).toEqual(names));
});

describe('bodies', () => {
  it('lets the status body omit fields that do not apply, but not set them to null', () => {
    const body = { request_id: requestId, status: 'IN_PROGRESS', ...urls };
    expect(accepts(routerQueueStatusResponse, body)).toBe(true);
    expect(accepts(routerQueueStatusResponse, { ...body, error_type: null })).toBe(false);
    expect(accepts(routerQueueStatusResponse, { ...body, queue_position: -1 })).toBe(false);
  });

  it('accepts a submit body only in the state IN_QUEUE', () => {
    const body = { request_id: requestId, status: 'IN_QUEUE', queue_position: 0, ...urls };
    expect(accepts(routerQueueSubmitResponse, body)).toBe(true);
    expect(accepts(routerQueueSubmitResponse, { ...body, status: 'IN_PROGRESS' })).toBe(false);
  });

  it('requires https for the schema URL', () => {
    const detail = {
      id: 'bfl/flux-2-pro',
      provider: 'bfl',
      model: 'flux-2-pro',
      billing: { charges_on_policy_rejection: 'no' },
    };
    expect(accepts(routerModelDetail, detail)).toBe(true);
    expect(accepts(routerModelDetail, { ...detail, input_schema_url: 'https://r.example/x' })).toBe(true);
    expect(accepts(routerModelDetail, { ...detail, input_schema_url: 'http://r.example/x' })).toBe(false);
  });

  it('accepts a 422 entry with and without constraint and echo, including an echoed null', () => {
    const entry = { loc: ['body', 'images', 0], msg: 'Field required', type: 'missing' };
    expect(accepts(routerValidationErrorResponse, { detail: [entry] })).toBe(true);
    expect(accepts(routerValidationErrorResponse, { detail: [{ ...entry, input: null, ctx: {} }] })).toBe(
      true,
    );
    expect(accepts(routerValidationErrorResponse, { detail: 'text' })).toBe(false);
  });

  it('can be converted to JSON Schema, for the OpenAPI document', () => {
    for (const schema of [
      routerModelListResponse,
      routerModelDetail,
      routerErrorResponse,
      routerValidationErrorResponse,
      routerQueueSubmitResponse,
      routerQueueStatusResponse,
      routerQueueCancelResponse,
    ]) {
      const name = schema.meta()?.id ?? 'unnamed';
      expect(z.toJSONSchema(schema)).toMatchObject({
        $ref: `#/$defs/${name}`,
        $defs: { [name]: { type: 'object', additionalProperties: false } },
      });
    }
  });
});
