import { useSyncExternalStore } from 'react';
import { texts } from '../texts/index.ts';
import { api, bodyOf } from './client.ts';
import { Problem } from './problem.ts';
import { refusals, session } from './session.ts';

/** The page from which this tab went to the identity provider. */
const leftFrom = 'model-router-left-from';

/** The code of the sign-in link that opened this page. It is nowhere else: not in the address, not in the history. */
let code: string | null = null;
let isExpected = false;
const listeners = new Set<() => void>();

/**
 * A sign-in link (`…/console/#code=…`). Fragments reach no server. The code works once, so opening the page must not
 * use it up: programs that check the links of messages open them too. The person does, with a button.
 */
export const signInLink = {
  code: () => code,

  /** Whether this tab asked the identity provider for the link, so that the person need not confirm it. */
  isExpected: () => isExpected,

  /** Takes the code, or the reason why there is none, out of the address. */
  take(): void {
    const fragment = new URLSearchParams(location.hash.slice(1));
    const taken = fragment.get('code');
    const refusal = refusals.find((reason) => reason === fragment.get('sign-in'));
    if (taken === null && refusal === undefined) return;
    const left = sessionStorage.getItem(leftFrom);
    sessionStorage.removeItem(leftFrom);
    isExpected = left !== null;
    history.replaceState(null, '', left ?? location.pathname + location.search);
    if (refusal !== undefined) session.notify(refusal);
    set(taken);
  },

  /** Goes to the identity provider, which leads back to this page. */
  askProvider(): void {
    sessionStorage.setItem(leftFrom, location.pathname + location.search);
    location.assign('/v2/sign-in/begin');
  },

  /** Exchanges the code for a session. A code that could not be sent is kept for another try. */
  async use(): Promise<void> {
    if (code === null) return;
    try {
      const { key } = await bodyOf(api.POST('/v2/sign-in', { headers: { authorization: `Bearer ${code}` } }));
      if (session.credential() === null || (await isWanted(key))) session.signIn(key);
      set(null);
    } catch (error) {
      const isSpent = error instanceof Problem && error.status === 401;
      session.notify(isSpent ? 'spentLink' : 'unreadLink');
      // The page asks for a key, as it does without a link. An existing session stays.
      if (isSpent) set(null);
    }
  },

  /** Keeps the existing session, or asks for a key. The link still works. */
  dismiss(): void {
    session.notify(null);
    set(null);
  },
};

export const useSignInLink = (): string | null => useSyncExternalStore(subscribe, signInLink.code);

function set(text: string | null): void {
  code = text;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Asks before a link replaces the session, because it may lead to another person's workspace. */
async function isWanted(key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  const { name } = await bodyOf(api.GET('/v2/workspace', { headers }));
  return confirm(texts.signIn.replaces(name));
}
