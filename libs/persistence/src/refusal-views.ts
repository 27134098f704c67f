import type { OperatorRefusal, RouterRefusal } from '#schemas';
import type { RefusedCall } from './refused-call.repository.js';

/** A refused call as its caller sees it. */
export const refusalView = (call: RefusedCall): RouterRefusal => ({
  request_id: call.callId,
  created_at: call.at.toISOString(),
  route: call.route,
  ...(call.model !== null && { model: call.model }),
  status: call.status,
  error_type: call.bucket,
  detail: call.detail,
  ...(call.fields.length > 0 && { fields: [...call.fields] }),
});

export const operatorRefusalView = (call: RefusedCall): OperatorRefusal => ({
  ...refusalView(call),
  workspace: { id: call.workspaceId, name: call.workspace },
});
