import { useSyncExternalStore } from 'react';

/** Shared by the top bar, the keyboard shortcut and the palette. */
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
