import { useSyncExternalStore } from 'react';

const place = 'model-router-pinned-models';
const listeners = new Set<() => void>();
let pinned: readonly string[] = stored();

/** IDs of the models that the user pinned in this browser, the first pinned one first. */
export const usePins = (): readonly string[] => useSyncExternalStore(subscribe, () => pinned);

export function togglePin(id: string): void {
  pinned = pinned.includes(id) ? pinned.filter((each) => each !== id) : [...pinned, id];
  localStorage.setItem(place, JSON.stringify(pinned));
  for (const listener of listeners) listener();
}

function stored(): readonly string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
