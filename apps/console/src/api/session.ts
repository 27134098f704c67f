import { useSyncExternalStore } from 'react';

const place = 'model-router-credential';

/** An API key or an access token, in this tab only: never in the address, never in a log, gone with the tab. */
let credential = sessionStorage.getItem(place);
const listeners = new Set<() => void>();

export const session = {
  credential: () => credential,
  signIn(text: string): void {
    set(text);
  },
  signOut(): void {
    set(null);
  },
};

export const useCredential = (): string | null => useSyncExternalStore(subscribe, session.credential);

function set(text: string | null): void {
  credential = text;
  if (text === null) sessionStorage.removeItem(place);
  else sessionStorage.setItem(place, text);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
