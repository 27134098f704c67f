import type { Cleanup } from './cleanup.js';
import type { LocalSettings } from './settings.js';
import type { Steps } from './steps.js';

/** What a start is given. */
export interface Plan {
  env: NodeJS.ProcessEnv;
  settings: LocalSettings;
  wantedFolder: string;
  cleanup: Cleanup;
  /** Aborts when the launcher was asked to stop while it starts. */
  signal: AbortSignal;
  steps: Steps;
  complain: (line: string) => void;
}
