import { useSyncExternalStore } from 'react';

const underway = new Set<number>();
const listeners = new Set<() => void>();

/** Counts an upload as under way until it has ended, whichever way. */
export async function untilUploaded(id: number, ended: Promise<void>): Promise<void> {
  change(() => underway.add(id));
  await ended;
  change(() => underway.delete(id));
}

/** Whether a file of the form is still being uploaded: what the input will hold is not known yet. */
export const useIsUploading = (): boolean => useSyncExternalStore(subscribe, () => underway.size > 0);

function change(act: () => void): void {
  act();
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
