import { createHash } from 'node:crypto';
import { type Json, membersOf, withMembersFirst } from '#schemas';
import type { Encoding } from './encodings.js';

/**
 * The caller's object with members that are the router's own: what the caller names so gives way, in whatever case,
 * since some providers take a name in any; the others stand first, and no other byte changes. With `list` it is the one
 * element of a list.
 */
export const withSet =
  (set: (uuid: string) => Readonly<Record<string, Json>>, list = false): Encoding =>
  ({ runId, body }) => {
    const own = Object.entries(set(uuidOf(runId)));
    const values = new Map(own.map(([name, value]) => [name.toLowerCase(), value]));
    const named = new Set<string>();
    const parts: Uint8Array[] = [];
    let from = 0;
    for (const { name, start, end } of membersOf(body)) {
      const value = values.get(name.toLowerCase());
      if (value === undefined) continue;
      parts.push(body.subarray(from, start), Buffer.from(JSON.stringify(value)));
      named.add(name);
      from = end;
    }
    const object = withMembersFirst(
      Buffer.concat([...parts, body.subarray(from)]),
      Object.fromEntries(own.filter(([name]) => !named.has(name))),
    );
    return {
      contentType: 'application/json',
      body: list ? Buffer.concat([Buffer.from('['), object, Buffer.from(']')]) : object,
    };
  };

/**
 * The run's own UUID for providers that want the client to name a task, of version 4 since some look. It is made from
 * the run's id: a submission that is made again, be it by another worker, names the same task.
 */
function uuidOf(runId: string): string {
  const bytes = createHash('sha256').update(runId).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
