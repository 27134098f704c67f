import type { HttpCall, ProviderAdapter } from './contract.js';
import { credentialHeaders, credentialUrl } from './trusted-origins.js';

/** A shorter text is an ordinary word, such as the `none` that local servers take as a key. */
const minLength = 8;

/** The members of a key in JSON that are secret. The others are names and addresses. */
const secretName = /(?:key|secret|token|password)(?:_id)?$/i;

/** The secret texts in a key: the key, and its parts if it has the form `id:key` or is a document in JSON. */
export function secretTexts(key: string): string[] {
  const document = parsed(key);
  if (document === undefined) return longOnes([key, ...partsOf(key)]);
  const named = Object.entries(document).flatMap(([name, value]) =>
    typeof value === 'string' && secretName.test(name) ? value.split('\n') : [],
  );
  // The first and the last line of a private key are the same in all keys.
  return longOnes(named.filter((line) => !line.startsWith('-----')));
}

/**
 * The secret texts that a call carries: each value of its credential, and each part, that another secret would change. What
 * stays the same, such as the name of an algorithm, is not secret.
 */
export function carriedTexts(
  adapter: Pick<ProviderAdapter, 'credential' | 'credentialOrigins' | 'credentialQuery'>,
  call: HttpCall,
  credential: { headers: Record<string, string>; url: string },
  { secret, nowMs }: { secret: string; nowMs: number },
): string[] {
  const other = secret.replaceAll(/[a-z0-9]/gi, (letter) => (letter === 'x' ? 'y' : 'x'));
  // Without the body, because hashing it twice takes too long.
  const bare = { ...call, body: new Uint8Array() };
  const same = new Set(
    textsOf({
      headers: credentialHeaders(adapter, bare, other, nowMs),
      url: credentialUrl(adapter, bare, other),
    }),
  );
  return longOnes(textsOf(credential)).filter((text) => !same.has(text));
}

const textsOf = ({ headers, url }: { headers: Record<string, string>; url: string }): string[] =>
  [...Object.values(headers), ...new URL(url).searchParams.values()].flatMap((value) => [
    value,
    ...partsOf(value),
  ]);

const partsOf = (text: string): string[] => text.split(/[\s:,;|&=]+/);

const longOnes = (texts: readonly string[]): string[] => [
  ...new Set(texts.filter((text) => text.length >= minLength)),
];

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
