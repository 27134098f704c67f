import { rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { RunAdmin } from '../admin.js';
import { demoNodes } from './demo-nodes.js';
import { readJsonFile, writeJsonFile } from '../json-file.js';

const schema = z.object({ nodes: z.number() });

/**
 * Fills the node registry at the first start, through the operator's own command. What was imported is noted, so
 * that a later start does not bring back what somebody has changed or removed.
 */
export async function demoRegistry(file: string, admin: RunAdmin): Promise<{ nodes: number; kept: boolean }> {
  const kept = readJsonFile(file, schema);
  if (kept) return { ...kept, kept: true };
  const records = `${file}.import.jsonl`;
  try {
    writeFileSync(
      records,
      demoNodes()
        .map((node) => `${JSON.stringify(node)}\n`)
        .join(''),
    );
    const { read } = schemaOfImport.parse(await admin('registry', 'import', records));
    writeJsonFile(file, { nodes: read });
    return { nodes: read, kept: false };
  } finally {
    rmSync(records, { force: true });
  }
}

const schemaOfImport = z.object({ read: z.number() });
