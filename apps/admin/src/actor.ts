import { hostname, userInfo } from 'node:os';

/** The user of this command line, as the record of operators' changes names them. */
export function actor(): string {
  return `admin:${userName()}@${hostname()}`;
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
