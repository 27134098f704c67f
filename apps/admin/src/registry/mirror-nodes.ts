import type { MirrorWalk, NodeMirrorRepository, NodeRepository } from '#persistence';
import { NodeBatches } from './node-batches.js';
import { readRecord } from './read-record.js';
import type { SourcePages } from './source-pages.js';

/** Changes that were being written when the last walk began may have an earlier time than its start. */
const overlapMs = 5 * 60_000;
/** Maximum number of full walks if nodes are removed from the source during the walk. */
const maxFullWalks = 3;

interface Rejected {
  page: number;
  id: unknown;
  reason: string;
}

interface Mirrored {
  pages: number;
  read: number;
  created: number;
  changed: number;
  rejected: Rejected[];
}

interface Mirroring {
  url: string;
  pages: SourcePages;
  nodes: NodeRepository;
  mirrors: NodeMirrorRepository;
  progress: (part: number, read: number) => void;
}

/**
 * Updates this registry to match another one. An interrupted walk is resumed, and after a finished walk only
 * changes are requested. If the changes do not explain the source's total, everything is walked again.
 */
export async function mirrorNodes(mirroring: Mirroring, { full }: { full: boolean }): Promise<Mirrored> {
  const { url, mirrors } = mirroring;
  const result: Mirrored = { pages: 0, read: 0, created: 0, changed: 0, rejected: [] };
  const before = full ? null : await mirrors.finished(url);
  const cutOff = full ? null : await mirrors.unfinished(url);
  let walk = cutOff ?? (await begin(mirroring, before));
  await take(mirroring, walk, result);
  if (walk.since !== null && before !== null && before.total + result.created !== walk.startedTotal)
    walk = await takeAll(mirroring, result);
  for (let walks = 1; walk.since === null && walks < maxFullWalks; walks += 1) {
    // Each removed node has moved later nodes to earlier positions, possibly past the current page of the
    // walk.
    const { total } = await mirroring.pages.read(1, null, 1);
    if (total >= walk.startedTotal) break;
    walk = await takeAll(mirroring, result);
  }
  await mirroring.nodes.analyze(result);
  return result;
}

async function takeAll(mirroring: Mirroring, result: Mirrored): Promise<MirrorWalk> {
  const walk = await begin(mirroring, null);
  await take(mirroring, walk, result);
  return walk;
}

async function begin({ pages }: Mirroring, before: { at: Date } | null): Promise<MirrorWalk> {
  const { at, total } = await pages.read(1, null, 1);
  return {
    since: before && new Date(before.at.getTime() - overlapMs),
    page: 1,
    startedAt: at,
    startedTotal: total,
  };
}

/** Completes a walk from its current page, and saves the position for each page. */
async function take(mirroring: Mirroring, walk: MirrorWalk, result: Mirrored): Promise<void> {
  const { url, pages, nodes, mirrors, progress } = mirroring;
  for (let { page } = walk, last = page; page <= last; page += 1) {
    await mirrors.save(url, { ...walk, page });
    const { nodes: listed, totalPages } = await pages.read(page, walk.since);
    last = totalPages;
    const batches = new NodeBatches<Omit<Rejected, 'reason'>>(
      (records) => nodes.put(records),
      (place, reason) => void result.rejected.push({ ...place, reason }),
    );
    for (const node of listed) {
      const found = readRecord(node, { whole: true });
      const place = { page, id: (node as { id?: unknown } | null)?.id ?? null };
      if ('record' in found) await batches.add(found.record, place);
      else result.rejected.push({ ...place, reason: found.reason });
    }
    const { created, changed } = await batches.end();
    result.pages += 1;
    result.read += listed.length;
    result.created += created;
    result.changed += changed;
    progress(page / Math.max(totalPages, 1), result.read);
  }
  await mirrors.finish(url, walk);
}
