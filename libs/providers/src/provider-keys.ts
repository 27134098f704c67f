/** A key of a provider. The operator's keys have names that are unique within a provider, and are shown to operators. */
export interface ProviderKey {
  name: string;
  secret: string;
  /** The id of a workspace's own key. Absent for the operator's keys. */
  ownId?: string;
}

/** How an operator's key is used. */
export interface KeyTerms {
  /** The key's share of the submissions, relative to the provider's other keys. With 0, it gets none. */
  weight: number;
  /** Maximum number of the key's runs in progress at the provider. */
  concurrency?: number | undefined;
  /** Maximum number of submissions within any minute. */
  perMinute?: number | undefined;
}

export interface OperatorKey extends ProviderKey, KeyTerms {}

/** The name of a key that stands alone. */
export const defaultKeyName = 'default';

const termNames = { weight: 'weight', concurrency: 'concurrency', per_minute: 'perMinute' } as const;
const bounds = { weight: [0, 1000], concurrency: [1, 10_000], per_minute: [1, 100_000] } as const;
const keyName = /^([a-z0-9][a-z0-9_-]{0,31})=[^=\s]/;
const term = /^(weight|concurrency|per_minute)=(\d{1,9})$/;

/**
 * Parses a key, or several keys, one a line: `name=key`, then any of `weight=2`, `concurrency=4` and `per_minute=10`. A
 * single line without these is one key, even if it contains `=`, and so is a text whose first line is not `name=key`,
 * such as a JSON document. Throws with a reason that does not quote the text.
 */
export function readKeys(text: string | undefined): OperatorKey[] {
  const lines = (text ?? '').split('\n').flatMap((line) => line.trim() || []);
  const [first] = lines;
  if (first === undefined) return [];
  const isList = keyName.test(first) && (lines.length > 1 || term.test(lastWord(first)));
  if (!isList) return [{ name: defaultKeyName, secret: (text ?? '').trim(), weight: 1 }];
  const keys = lines.map((line, index) => readLine(line, `line ${index + 1}`));
  const names = keys.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new Error(`two keys are named ${repeated}`);
  return keys;
}

const lastWord = (line: string): string => line.slice(line.lastIndexOf(' ') + 1);

function readLine(line: string, where: string): OperatorKey {
  const [, name] = keyName.exec(line) ?? [];
  if (name === undefined)
    throw new Error(`${where} is not of the form name=key, with a name of a-z, 0-9, _ and -`);
  const key: OperatorKey = { name, secret: line.slice(name.length + 1), weight: 1 };
  for (let word = lastWord(key.secret); word !== key.secret; word = lastWord(key.secret)) {
    const [, named, value] = term.exec(word) ?? [];
    if (named === undefined) {
      if (/^[a-z_]+=/.test(word)) throw new Error(`${where} ends with an unknown term`);
      break;
    }
    const [least, most] = bounds[named as keyof typeof bounds];
    const number = Number(value);
    if (number < least || number > most)
      throw new Error(`${where}: ${named} must be from ${least} to ${most}`);
    key[termNames[named as keyof typeof termNames]] = number;
    key.secret = key.secret.slice(0, -word.length).trimEnd();
  }
  return key;
}

/** Whether the choice among these keys, or a limit of one, has to be coordinated between workers. */
export const isPool = (keys: readonly OperatorKey[]): boolean =>
  keys.length > 1 || keys.some(({ name }) => name !== defaultKeyName);
