import type { FastifyReply } from 'fastify';

export const runIdHeader = 'x-service-run-id';

/** Names the run that a call belongs to: in its answer, errors included, its log line and its span. */
export function nameRun(reply: FastifyReply, runId: string): void {
  void reply.header(runIdHeader, runId);
}

/** The run that a call belongs to, once it is known. */
export function runIdOf(reply: FastifyReply): string | undefined {
  const runId = reply.getHeader(runIdHeader);
  return typeof runId === 'string' ? runId : undefined;
}
