import type { FastifyReply } from 'fastify';

export const runIdHeader = 'x-service-run-id';

/** Names the run that a call belongs to: in its answer, errors included, its log line and its span. */
export function nameRun(reply: FastifyReply, runId: string): void {
  void reply.header(runIdHeader, runId);
}

/** Says in the answer if the run uses a key of its workspace, so that the provider bills the workspace. */
export function namePayer(reply: FastifyReply, isWorkspace: boolean): void {
  if (isWorkspace) void reply.header('x-service-billed-to', 'workspace');
}

/** The run that a call belongs to, once it is known. */
export function runIdOf(reply: FastifyReply): string | undefined {
  const runId = reply.getHeader(runIdHeader);
  return typeof runId === 'string' ? runId : undefined;
}
