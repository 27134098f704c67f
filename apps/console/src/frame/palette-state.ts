import { useSyncExternalStore } from 'react';

/** Whether the palette is open: the top bar, the keyboard and the palette itself change it. */
let isOpen = false;
const listeners = new Set<() => void>();

const set = (next: boolean) => () => {
  isOpen = next;
  for (const listener of listeners) listener();
};

export const palette = { open: set(true), close: set(false) };

export const usePaletteIsOpen = (): boolean => useSyncExternalStore(subscribe, () => isOpen);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
