import { useSyncExternalStore } from 'react';

const place = 'model-router-credential';

/** Why the identity provider didn't sign a person in, as the gateway says it in the address. */
export const refusals = ['declined', 'expired', 'noRole', 'noWorkspace', 'tooMany', 'unavailable'] as const;

/** Why a session ended, or why none was started. */
type Notice = 'ended' | 'spentLink' | 'unreadLink' | (typeof refusals)[number];

/** An API key or access token. Kept in this tab only: never in the address, never in a log, gone with the tab. */
let credential = sessionStorage.getItem(place);
let notice: Notice | null = null;
const listeners = new Set<() => void>();

export const session = {
  credential: () => credential,
  notice: () => notice,
  signIn(text: string): void {
    set(text, null);
  },
  /** The reason is null if the user signed out. */
  signOut(reason: Notice | null = null): void {
    set(null, reason);
  },
  notify(reason: Notice | null): void {
    set(credential, reason);
  },
};

export const useCredential = (): string | null => useSyncExternalStore(subscribe, session.credential);
export const useNotice = (): Notice | null => useSyncExternalStore(subscribe, session.notice);

function set(text: string | null, reason: Notice | null): void {
  credential = text;
  notice = reason;
  // A user who signs out leaves nothing behind, drafts included. They outlive a session that has expired.
  if (text === null && reason === null) sessionStorage.clear();
  else if (text === null) sessionStorage.removeItem(place);
  else sessionStorage.setItem(place, text);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
