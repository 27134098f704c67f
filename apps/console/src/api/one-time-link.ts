import { api, bodyOf } from './client.ts';
import { Problem } from './problem.ts';
import { texts } from '../texts.ts';
import { session } from './session.ts';

/** `…/console/#code=…`: a link of the terminal. The code is good once and for minutes; a fragment is sent to no server. */
export async function exchangeCode(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    const { key } = await bodyOf(api.POST('/v2/sign-in', { headers: { authorization: `Bearer ${code}` } }));
    if (session.credential() === null || (await isWanted(key))) session.signIn(key);
  } catch (error) {
    // The page then asks for a key, as it does without a link; a session that stands goes on.
    session.notify(error instanceof Problem && error.status === 401 ? 'spentLink' : 'unreadLink');
  }
}

/** A person who opens somebody else's link is asked before they go on in that person's workspace. */
async function isWanted(key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` };
  const { name } = await bodyOf(api.GET('/v2/workspace', { headers }));
  return confirm(texts.signIn.replaces(name));
}
