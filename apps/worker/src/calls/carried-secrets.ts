import { pipeline, type Readable, Transform } from 'node:stream';
import {
  carriedTexts,
  credentialHeaders,
  credentialUrl,
  type HttpCall,
  type ProviderAdapter,
  secretTexts,
} from '#providers';

const redacted = Buffer.from('[redacted]');

type Credential = Pick<ProviderAdapter, 'credential' | 'credentialOrigins' | 'credentialQuery'>;

/**
 * The secrets of one call to a provider: the key, and what is made from it for the call. Every byte of the reply passes
 * through here before anything reads, passes on or stores it. A provider that repeats a secret is therefore the one
 * exception to byte equality, and nothing behind this place has to know a secret to hide it.
 */
export class CarriedSecrets {
  private readonly texts = new Set<string>();
  private spelled: Buffer[] | undefined;

  constructor(key: string | undefined) {
    this.add(key === undefined ? [] : secretTexts(key));
  }

  /** The header fields and the address that authenticate the call. */
  authenticate(adapter: Credential, call: HttpCall, secret: string | undefined) {
    const nowMs = Date.now();
    const credential = {
      headers: credentialHeaders(adapter, call, secret, nowMs),
      url: credentialUrl(adapter, call, secret),
    };
    if (secret !== undefined) this.add(carriedTexts(adapter, call, credential, { secret, nowMs }));
    return credential;
  }

  /** The header fields of a reply, without the secrets. Those that are repeated are joined. */
  cleanedFields(fields: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, this.hide([value].flat().join(', '))]],
      ),
    );
  }

  /** A body without the secrets, while it arrives. */
  cleaned(body: Readable): Readable {
    const filter = new SecretFilter(this.spellings());
    const cleaning = new Transform({
      transform: (chunk: Buffer, _encoding, done) => done(null, filter.push(chunk)),
      flush: (done) => done(null, filter.rest()),
    });
    return pipeline(body, cleaning, () => {});
  }

  private hide(text: string): string {
    const filter = new SecretFilter(this.spellings());
    return Buffer.concat([filter.push(Buffer.from(text)), filter.rest()]).toString();
  }

  private add(texts: readonly string[]): void {
    for (const text of texts) this.texts.add(text);
    this.spelled = undefined;
  }

  private spellings(): readonly Buffer[] {
    return (this.spelled ??= [...new Set([...this.texts].flatMap(spellingsOf))].map((text) =>
      Buffer.from(text),
    ));
  }
}

/** As it is, in JSON, in JSON that escapes slashes, and in a URL. */
function spellingsOf(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  return [text, json, json.replaceAll('/', String.raw`\/`), encodeURIComponent(text)];
}

/** Replaces secrets in a stream of bytes. A secret is found wherever the chunks end. */
export class SecretFilter {
  private held: Uint8Array = new Uint8Array();
  private readonly maxLength: number;
  private readonly firstBytes: ReadonlySet<number | undefined>;

  constructor(private readonly secrets: readonly Buffer[]) {
    this.maxLength = Math.max(0, ...secrets.map(({ length }) => length));
    this.firstBytes = new Set(secrets.map(([first]) => first));
  }

  /** The clean bytes so far. An end that a secret may begin with is held back until the next chunk. */
  push(chunk: Uint8Array): Uint8Array {
    const bytes = this.held.length === 0 ? viewOf(chunk) : Buffer.concat([this.held, chunk]);
    return this.clean(bytes, this.beginningIn(bytes));
  }

  /** The bytes that were held back, once the last chunk has arrived. */
  rest(): Uint8Array {
    return this.clean(viewOf(this.held), this.held.length);
  }

  /** Cleans the bytes up to `end`, and holds back the others. */
  private clean(bytes: Buffer, end: number): Uint8Array {
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (const { at, length } of this.found(bytes)) {
      if (at < from || at >= end) continue;
      pieces.push(bytes.subarray(from, at), redacted);
      from = at + length;
    }
    const to = Math.max(from, end);
    // Chunks may be reused by their owner, so what is held back is copied.
    this.held = to < bytes.length ? Uint8Array.from(bytes.subarray(to)) : new Uint8Array();
    const rest = bytes.subarray(from, to);
    return pieces.length === 0 ? rest : Buffer.concat([...pieces, rest]);
  }

  /** Where secrets are, the longest first at each place. */
  private found(bytes: Buffer): { at: number; length: number }[] {
    const found: { at: number; length: number }[] = [];
    for (const secret of this.secrets)
      for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + 1))
        found.push({ at, length: secret.length });
    return found.toSorted((one, other) => one.at - other.at || other.length - one.length);
  }

  /** Where an end begins that may be the beginning of a secret. */
  private beginningIn(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - this.maxLength + 1); at < bytes.length; at += 1) {
      if (!this.firstBytes.has(bytes[at])) continue;
      const length = bytes.length - at;
      const isBeginning = (secret: Buffer) =>
        secret.length > length && secret.compare(bytes, at, bytes.length, 0, length) === 0;
      if (this.secrets.some(isBeginning)) return at;
    }
    return bytes.length;
  }
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);
