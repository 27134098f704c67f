import { hostname, userInfo } from 'node:os';

/** The name of this command line's user in the record of operators' changes. */
export function actor(): string {
  return `admin:${userName()}@${hostname()}`;
}

/** The user's name, or its id, since a container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
