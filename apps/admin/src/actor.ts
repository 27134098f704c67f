import { hostname, userInfo } from 'node:os';
import { z } from 'zod';

/** 1 to 128 printable characters. Invisible ones could make one person look like another. */
export const personName = z
  .string()
  .regex(
    /^(?!\p{Zs})[^\p{C}\p{Zl}\p{Zp}]{1,128}(?<!\p{Zs})$/u,
    'must be 1 to 128 printable characters, without a space at the beginning or end',
  );

export const actorSettings = {
  ADMIN_ACTOR: personName.optional().meta({
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
