import type { InputRejection } from '#errors';
import type { FastifyReply } from 'fastify';

const maxFields = 5;
/** A caller may name a field anything, so a longer or stranger name is not logged. */
const plainPath = /^[\w.-]{1,100}$/;
const refused = new WeakMap<FastifyReply, string[]>();

/** Names the fields that the model does not accept, for the call's log line. */
export function nameRefusedFields(reply: FastifyReply, { fields }: InputRejection): void {
  const paths = fields.slice(0, maxFields).map(({ loc }) => loc.join('.'));
  refused.set(
    reply,
    paths.map((path) => (plainPath.test(path) ? path : '…')),
  );
}

export const refusedFieldsOf = (reply: FastifyReply): string[] | undefined => refused.get(reply);
