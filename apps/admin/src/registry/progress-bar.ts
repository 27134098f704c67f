import { clearLine } from '../answer.js';

const width = 30;
const minPauseMs = 100;

/** A progress bar that overwrites itself through `status`. Shows nothing without a terminal. */
export function progressBar(status: ((text: string) => void) | undefined) {
  let shownMs = -Infinity;
  return {
    show: (part: number, nodes: number): void => {
      const nowMs = performance.now();
      if (!status || nowMs - shownMs < minPauseMs) return;
      shownMs = nowMs;
      const done = Math.round(Math.min(part, 1) * width);
      const bar = `${'='.repeat(done)}${' '.repeat(width - done)}`;
      status(`\r[${bar}] ${String(Math.floor(part * 100)).padStart(3)}%  ${nodes} nodes`);
    },
    clear: (): void => status?.(clearLine),
  };
}
