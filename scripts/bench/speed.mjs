// The speed of the machine, so that figures of two days or two machines can be compared.
import { createHash } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus } from 'node:os';
import { temporaryFolder } from '../../dist/test/harness/running.js';

const mebibyte = Buffer.alloc(1024 * 1024, 1);

/** The median of `count` measurements of what `act` takes, in milliseconds. */
function medianMs(count, act) {
  const times = Array.from({ length: count }, () => {
    const startedMs = performance.now();
    act();
    return performance.now() - startedMs;
  });
  return times.toSorted((one, other) => one - other)[Math.floor(count / 2)];
}

/** One core by its SHA-256, and the disk by a write of 8 KiB that is synced. */
export function machineSpeed() {
  const file = `${temporaryFolder('speed')}/file`;
  const open = openSync(file, 'w');
  try {
    const hashMs = medianMs(64, () => createHash('sha256').update(mebibyte).digest());
    const syncMs = medianMs(64, () => {
      writeSync(open, mebibyte, 0, 8192);
      fdatasyncSync(open);
    });
    const [{ model }] = cpus();
    return `Node ${process.version}, ${cpus().length} × ${model}: SHA-256 of ${(1000 / hashMs).toFixed(0)} MiB/s a core, ${syncMs.toFixed(2)} ms for a synced write`;
  } finally {
    closeSync(open);
    rmSync(file);
  }
}
