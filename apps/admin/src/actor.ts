import { hostname, userInfo } from 'node:os';
import { z } from 'zod';
import { personName, personNameRule } from './person-name.js';

export const actorSettings = {
  ADMIN_ACTOR: z.string().regex(personName, personNameRule).optional().meta({
    description:
      'The person who runs a command of `admin`, for the record of operators’ actions. The option `--as` overrides it. The user and host of the process are recorded too.',
    example: 'alice',
  }),
};

/** The name of this command line's user in the record of operators' actions. */
export function actorOf({ ADMIN_ACTOR: person }: { ADMIN_ACTOR?: string | undefined }): string {
  const processName = `admin:${userName()}@${hostname()}`;
  return person === undefined ? processName : `${person} via ${processName}`;
}

/** The user's name, or its id, since a container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
