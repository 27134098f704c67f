import { api, bodyOf } from './client.ts';
import { Problem } from './problem.ts';
import { texts } from '../texts/index.ts';
import { session } from './session.ts';

/** Handles sign-in links (`…/console/#code=…`). A code works once, within minutes. Fragments never reach a server. */
export async function exchangeCode(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    const { key } = await bodyOf(api.POST('/v2/sign-in', { headers: { authorization: `Bearer ${code}` } }));
    if (session.credential() === null || (await isWanted(key))) session.signIn(key);
  } catch (error) {
    // The page asks for a key, as it does without a link. An existing session stays.
    session.notify(error instanceof Problem && error.status === 401 ? 'spentLink' : 'unreadLink');
  }
}

/** Asks before a link replaces the session, because it may lead to another person's workspace. */
async function isWanted(key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  const { name } = await bodyOf(api.GET('/v2/workspace', { headers }));
  return confirm(texts.signIn.replaces(name));
}
