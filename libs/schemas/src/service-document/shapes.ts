import { z } from 'zod';
import {
  registryErrorResponse,
  routerErrorResponse,
  routerErrorType,
  routerValidationErrorContext,
  routerValidationErrorDetail,
  routerValidationErrorInput,
  routerValidationErrorResponse,
} from '../error-shapes.js';
import {
  routerModelId,
  routerModelSegment,
  routerPageCursor,
  routerProviderSegment,
  routerQueueRequestId,
} from '../identifiers.js';
import {
  routerChargesOnPolicyRejection,
  routerModelBilling,
  routerModelDetail,
  routerModelInput,
  routerModelInputSchemaDocument,
  routerModelListEntry,
  routerModelListResponse,
  routerModelOutput,
} from '../model-shapes.js';
import {
  routerQueueCancelResponse,
  routerQueueCancelStatus,
  routerQueuePosition,
  routerQueueStatus,
  routerQueueStatusResponse,
  routerQueueSubmitResponse,
} from '../queue-shapes.js';
import {
  nodeStatus,
  nodeVersion,
  nodeVersionStatus,
  publisher,
  publisherMember,
  publisherStatus,
  publisherUser,
  registryNode,
  registryNodeList,
} from '../registry-shapes.js';
import { type JsonSchema, jsonSchemaOptions } from './json-schema.js';

/** Every shape that the service document names. */
const shapes = {
  RouterProviderSegment: routerProviderSegment,
  RouterModelSegment: routerModelSegment,
  RouterModelId: routerModelId,
  RouterPageCursor: routerPageCursor,
  RouterQueueRequestId: routerQueueRequestId,
  RouterModelListResponse: routerModelListResponse,
  RouterModelListEntry: routerModelListEntry,
  RouterModelDetail: routerModelDetail,
  RouterModelBilling: routerModelBilling,
  RouterChargesOnPolicyRejection: routerChargesOnPolicyRejection,
  RouterModelInputSchemaDocument: routerModelInputSchemaDocument,
  RouterModelInput: routerModelInput,
  RouterModelOutput: routerModelOutput,
  RouterQueueSubmitResponse: routerQueueSubmitResponse,
  RouterQueueStatusResponse: routerQueueStatusResponse,
  RouterQueueCancelResponse: routerQueueCancelResponse,
  RouterQueueStatus: routerQueueStatus,
  RouterQueuePosition: routerQueuePosition,
  RouterQueueCancelStatus: routerQueueCancelStatus,
  RouterErrorResponse: routerErrorResponse,
  RouterErrorType: routerErrorType,
  RouterValidationErrorResponse: routerValidationErrorResponse,
  RouterValidationErrorDetail: routerValidationErrorDetail,
  RouterValidationErrorContext: routerValidationErrorContext,
  RouterValidationErrorInput: routerValidationErrorInput,
  NodeList: registryNodeList,
  Node: registryNode,
  NodeStatus: nodeStatus,
  NodeVersion: nodeVersion,
  NodeVersionStatus: nodeVersionStatus,
  Publisher: publisher,
  PublisherStatus: publisherStatus,
  PublisherMember: publisherMember,
  PublisherUser: publisherUser,
  ErrorResponse: registryErrorResponse,
} as const satisfies Record<string, z.ZodType>;

export type ShapeName = keyof typeof shapes;

const referenceOf = (name: string): string => `#/components/schemas/${name}`;

export const shapeReference = (name: ShapeName): string => referenceOf(name);

/** The shapes as JSON Schema, in the order above; shapes within shapes are references. */
export function componentSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<z.core.GlobalMeta>();
  for (const [id, shape] of Object.entries(shapes)) {
    registry.add(shape, { ...z.globalRegistry.get(shape), id });
  }
  const { schemas } = z.toJSONSchema(registry, { ...jsonSchemaOptions, uri: referenceOf });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _address, ...schema }]) => [
      name,
      schema as JsonSchema,
    ]),
  );
}
