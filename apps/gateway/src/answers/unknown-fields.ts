import type { UnknownField } from '#errors';
import type { FastifyReply } from 'fastify';

export const unknownFieldsHeader = 'x-service-unknown-fields';

/** Points out the fields of an accepted input that are most likely typos, in its answer. */
export function nameUnknownFields(reply: FastifyReply, fields: readonly UnknownField[]): void {
  if (fields.length > 0) void reply.header(unknownFieldsHeader, unknownFieldsText(fields));
}

/** `hieght (height?), widht (width?)` */
export const unknownFieldsText = (fields: readonly UnknownField[]): string =>
  fields.map(({ name, suggestion }) => `${name} (${suggestion}?)`).join(', ');
