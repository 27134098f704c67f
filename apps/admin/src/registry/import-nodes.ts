import { stat } from 'node:fs/promises';
import type { NodeRepository } from '#persistence';
import { givenRecords } from './given-records.js';
import { NodeBatches } from './node-batches.js';
import { readRecord } from './read-record.js';

interface Rejected {
  file: string;
  line: number;
  reason: string;
}

interface Imported {
  read: number;
  created: number;
  changed: number;
  rejected: Rejected[];
}

interface Options {
  dryRun: boolean;
  /** `part` is the fraction of all bytes that has been read. */
  progress: (part: number, read: number) => void;
}

/** Imports files one after the other. Bad records are reported, and the others are still imported. */
export async function importNodes(
  files: readonly string[],
  repository: NodeRepository,
  { dryRun, progress }: Options,
): Promise<Imported> {
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const allBytes = sizes.reduce((sum, size) => sum + size, 0);
  const rejected: Rejected[] = [];
  const batches = new NodeBatches<Omit<Rejected, 'reason'>>(
    (records) => repository.put(records, { dryRun }),
    (place, reason) => void rejected.push({ ...place, reason }),
  );
  let read = 0;
  let bytesBefore = 0;
  try {
    for (const [index, file] of files.entries()) {
      for await (const given of givenRecords(file)) {
        read += 1;
        const found = 'value' in given ? readRecord(given.value, { whole: false }) : given;
        const place = { file, line: given.line };
        if ('record' in found) await batches.add(found.record, place);
        else rejected.push({ ...place, reason: found.reason });
        progress((bytesBefore + given.bytes) / Math.max(allBytes, 1), read);
      }
      bytesBefore += sizes[index] ?? 0;
    }
    await batches.end();
  } finally {
    if (!dryRun) await repository.analyze(batches.written);
  }
  return { read, ...batches.written, rejected };
}
