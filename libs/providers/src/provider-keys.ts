/** A key of a provider. The operator's keys have names that are unique within a provider, and are shown to operators. */
export interface ProviderKey {
  name: string;
  secret: string;
  /** The id of a workspace's own key. Absent for the operator's keys. */
  ownId?: string;
}

/** How an operator's key is used. */
interface KeyTerms {
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
const keyName = /^([a-z0-9][a-z0-9_-]{0,31})=(?:[^=\s]|$)/;
const term = /^(weight|concurrency|per_minute)=(\d{1,9})$/;
/** A bare key has no space, unlike a comment or a list in a wrong form. */
const bareKey = /^[!-~]+$/;
/** A header can hold these characters. */
const namedKey = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * Parses keys, one a line: `name=key`, then any of `weight=2`, `concurrency=4` and `per_minute=10`. A key without a name
 * stands alone; its line may have terms too. A document in JSON is one key. What a line means does not depend on other
 * lines. Throws with a reason that names the line and does not quote it.
 */
export function readKeys(text: string | undefined): OperatorKey[] {
  const whole = (text ?? '').trim();
  if (isJson(whole)) return [{ name: defaultKeyName, secret: whole, weight: 1 }];
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  const isList = lines.filter((line) => line !== '').length > 1;
  const keys = lines.flatMap((line, index) => {
    if (line === '') return [];
    const where = `line ${index + 1}`;
    if (isList && !keyName.test(line))
      throw new Error(`${where} is not of the form name=key, with a name of a-z, 0-9, _ and -`);
    return [readLine(line, where)];
  });
  const names = keys.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new Error(`two keys are named ${repeated}`);
  return keys;
}

const isJson = (text: string): boolean => {
  try {
    return text.startsWith('{') && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
};

const lastWord = (line: string): string => line.slice(line.lastIndexOf(' ') + 1);

function readLine(line: string, where: string): OperatorKey {
  const [, name] = keyName.exec(line) ?? [];
  const key: OperatorKey = {
    name: name ?? defaultKeyName,
    secret: name === undefined ? line : line.slice(name.length + 1),
    weight: 1,
  };
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
  if (key.secret === '') throw new Error(`${where} has a name and no key`);
  if (!namedKey.test(key.secret)) throw new Error(`${where} has a character that no header can hold`);
  if (name === undefined && !bareKey.test(key.secret))
    throw new Error(`${where} has a space in its key, which is not of the form name=key`);
  return key;
}

/** Whether the choice among these keys, or a limit of one, has to be coordinated between workers. */
export const isPool = (keys: readonly OperatorKey[]): boolean =>
  keys.length > 1 || keys.some(({ name }) => name !== defaultKeyName);
