import { useSyncExternalStore } from 'react';

const place = 'model-router-credential';

/** A new tab shows nothing for this long while it waits for the session of another one, in milliseconds. */
const answerMs = 150;

/** Why the identity provider didn't sign a person in, as the gateway says it in the address. */
export const refusals = ['declined', 'expired', 'noRole', 'noWorkspace', 'tooMany', 'unavailable'] as const;

/** Why a session ended, or why none was started. */
type Notice = 'ended' | 'spentLink' | 'unreadLink' | (typeof refusals)[number];

/**
 * An API key or access token. Kept in the open tabs of this browser only: never in the address, never in a log, gone with
 * the last tab.
 */
let credential = sessionStorage.getItem(place);
let notice: Notice | null = null;
const listeners = new Set<() => void>();

type Message = { is: 'question' } | { is: 'answer' | 'end'; credential: string };
/** Reaches the other tabs of this origin. */
const tabs = new BroadcastChannel(place);
tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.is === 'question' && credential !== null) tell({ is: 'answer', credential });
  if (data.is === 'answer' && answered !== undefined) {
    const resolve = answered;
    set(data.credential, null);
    resolve();
  }
  if (data.is === 'end' && data.credential === credential) set(null, null);
});
/** Set from the question until this tab has a session: a busy tab may answer late, when the sign-in page is shown. */
let answered: (() => void) | undefined;

export const session = {
  credential: () => credential,
  notice: () => notice,
  /** Takes the session over from another tab, if there is one. Resolves within a moment either way. */
  async share(): Promise<void> {
    if (credential !== null) return;
    await new Promise<void>((resolve) => {
      answered = resolve;
      tell({ is: 'question' });
      setTimeout(resolve, answerMs);
    });
  },
  signIn(text: string): void {
    set(text, null);
  },
  /** The reason is null if the user signed out, which ends the session in all tabs. */
  signOut(reason: Notice | null = null): void {
    if (reason === null && credential !== null) tell({ is: 'end', credential });
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
  answered = undefined;
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

const tell = (message: Message): void => tabs.postMessage(message);
