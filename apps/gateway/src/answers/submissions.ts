import { routerModelId } from '#schemas';
import type { FastifyReply } from 'fastify';

interface Segments {
  provider?: string | undefined;
  model?: string | undefined;
}

const submissions = new WeakMap<FastifyReply, { model: string | undefined }>();

/** Says that a call is for a run, and of which model if that is known: for the record of its refusal. */
export function nameSubmission(reply: FastifyReply, segments: Segments = {}): void {
  submissions.set(reply, { model: modelIdOf(segments) });
}

/** Undefined if the call is not for a run. */
export const submissionOf = (reply: FastifyReply): { model: string | undefined } | undefined =>
  submissions.get(reply);

/** The id that the segments form. Segments that form none can be anything, so they are not recorded. */
export function modelIdOf({ provider, model }: Segments): string | undefined {
  const id = routerModelId.safeParse(`${provider}/${model}`);
  return provider !== undefined && model !== undefined && id.success ? id.data : undefined;
}
