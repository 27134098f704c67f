import type { InputRejection } from '#errors';
import type { FastifyReply } from 'fastify';

const maxFields = 5;
/** A caller may name a field anything, so a longer or stranger name is not recorded. */
const plainPath = /^[\w.-]{1,100}$/;
const refused = new WeakMap<FastifyReply, string[]>();

/** The first fields that the model does not accept, without their values. */
export const plainFieldsOf = ({ fields }: InputRejection): { name: string; type: string }[] =>
  fields.slice(0, maxFields).map(({ loc, type }) => {
    const path = loc.join('.');
    return { name: plainPath.test(path) ? path : '…', type };
  });

/** Names the fields that the model does not accept, for the call's log line. */
export function nameRefusedFields(reply: FastifyReply, rejection: InputRejection): void {
  refused.set(
    reply,
    plainFieldsOf(rejection).map(({ name }) => name),
  );
}

export const refusedFieldsOf = (reply: FastifyReply): string[] | undefined => refused.get(reply);
