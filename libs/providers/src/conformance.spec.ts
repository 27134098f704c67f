import { describe, expect, it } from '@jest/globals';

import { type Json, type JsonPointer, placesOf, type SurpriseKind } from '#schemas';
import type {
  Handle,
  HttpCall,
  HttpReply,
  Outcome,
  ProviderAdapter,
  ProviderDefinition,
  Run,
  Signal,
} from './contract.js';
import { credentialHeaders } from './trusted-origins.js';
import { failureClasses } from './contract.js';
import { providerList } from './providers.js';
import { statusDefaults } from './testing/defaults.js';
import {
  type Facts,
  type Fixture,
  fixtureFolders,
  openFixtures,
  replyOf,
  type ResultPhase,
} from './testing/fixtures.js';
import { requiredFixtures } from './testing/required.js';

/** Number formats, key order, duplicate keys and white space that do not survive parsing. */
const oddBody = new TextEncoder().encode(
  '{ "seed":18446744073709551615,\t"strength": 1.0,"b":1e2,"a":"\\u00e9", "a" : "é",\r\n "prompt":"a cat" }  ',
);

const bytesOf = (body: Uint8Array | undefined): string => Buffer.from(body ?? []).toString();

/** The odd body in the encoding that the provider declares: the whole text, or pieces of it. */
function encoded(encoding: Facts['encoding']): { type: RegExp; pieces: string[] } {
  if (encoding !== 'form') {
    const odd = bytesOf(oddBody);
    const sent =
      encoding === undefined
        ? odd
        : 'list' in encoding
          ? `[{${encoding.list},${odd.slice(1)}]`
          : `{"${encoding.envelope}":${odd}}`;
    return { type: /^application\/json$/, pieces: [sent] };
  }
  const fields = { seed: '18446744073709551615', strength: '1.0', b: '1e2', a: 'é', prompt: 'a cat' };
  return {
    type: /^multipart\/form-data; boundary=/,
    pieces: Object.entries(fields).map(([name, value]) => `name="${name}"\r\n\r\n${value}\r\n--`),
  };
}

/** A value that starts with `^` is a pattern, because a signature differs for every call. */
const patterns = (fields: Facts['credential']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value.startsWith('^') ? expect.stringMatching(value) : value,
    ]),
  );

/**
 * The part of the outcome that a fixture states: all but the note for the log, and the output, the surprise and the
 * provider's own words, which have their own cases.
 */
const withoutLogAndBytes = (outcome: unknown): unknown =>
  JSON.parse(
    JSON.stringify(outcome, (key, value: unknown) =>
      ['note', 'output', 'surprise', 'reply'].includes(key) ? undefined : value,
    ),
  );

const handleOf = (outcome: Outcome): Handle => {
  if (outcome.kind !== 'pending' && outcome.kind !== 'next') throw new Error(`no handle: ${outcome.kind}`);
  return JSON.parse(JSON.stringify(outcome.handle)) as Handle;
};

const trusted = (of: ProviderAdapter, url: string, secret: string): boolean =>
  Object.keys(credentialHeaders(of, { method: 'GET', url }, secret, 0)).length > 0;

const isPointer = (at: string): at is JsonPointer => at.startsWith('/');

/** The kinds of surprises that a reply of this name may be. */
function surpriseKindsOf(file: string): (SurpriseKind | undefined)[] {
  if (file.endsWith('-unknown-word')) return ['unknown_status', undefined];
  if (/-without-(result|file)$/.test(file)) return ['no_files', 'unknown_status', 'unreadable', undefined];
  if (/-without-handle$|^submit-unusable-url$/.test(file)) return ['unreadable'];
  if (file === 'submit-in-progress') return ['unknown_status'];
  return [undefined];
}

/** The reply with another word for its state, in its JSON or in a header. */
function inState(reply: HttpReply, at: string, word: Json): HttpReply {
  if (!isPointer(at)) return { ...reply, headers: { ...reply.headers, [at]: JSON.stringify(word) } };
  const text = Buffer.from(reply.body).toString();
  const [place] = placesOf(reply.body, [at]);
  if (!place) throw new Error(`no state at ${at} in ${text}`);
  const before = reply.body.subarray(0, place.start);
  const body = Buffer.concat([before, Buffer.from(JSON.stringify(word)), reply.body.subarray(place.end)]);
  return { ...reply, body };
}

/** The reply with each file, link and text replaced by an empty string; undefined if it has no file or link. */
function withoutFiles(reply: HttpReply): HttpReply | undefined {
  const text = Buffer.from(reply.body).toString();
  const emptied = text
    .replaceAll(/"(https?:|data:)[^"]*"/g, '""')
    .replaceAll(
      /("(?:audio|data|b64_json|bytesBase64Encoded|imageBase64Data|videoBase64Data)"\s*:\s*)"[^"]*"/g,
      '$1""',
    );
  const body = Buffer.from(emptied.replaceAll(/("text"\s*:\s*)"[^"]*"/g, '$1""'));
  return emptied === text ? undefined : { ...reply, body };
}

const sets = providerList.flatMap((definition) =>
  fixtureFolders(definition.name).map((folder): [string, ProviderDefinition, string] => [
    folder.split('/providers/').at(-1) ?? folder,
    definition,
    folder,
  ]),
);

describe.each(sets)('%s', (_name, definition, folder) => {
  const { facts, names, load, reply } = openFixtures(folder);
  const secret = facts.secret ?? 'the-secret';
  const create = (base: string) => definition.create(base, facts.settings ?? {});
  const adapter = create(definition.defaultBase);
  const run: Run = { ...facts.run, body: oddBody };

  const pollHandle = () => handleOf(adapter.onSubmit(run, reply('submit-accepted')));
  const resumed = (handle: Handle, signal: Signal): Outcome => {
    if (!adapter.onResume) throw new Error('the provider has no resume');
    return adapter.onResume(handle, signal, facts.assets);
  };
  const fetchHandle = () => handleOf(resumed(pollHandle(), reply('poll-succeeded')));

  const answer = (phase: Fixture['phase'], signal: Signal): unknown => {
    switch (phase) {
      case 'upload':
        return adapter.upload?.(run)?.read(signal);
      case 'submit':
        return adapter.onSubmit(run, signal, facts.assets);
      case 'poll':
        return resumed(pollHandle(), signal);
      case 'fetch':
        return resumed(fetchHandle(), signal);
      case 'cancel':
        return adapter.onCancel?.(pollHandle(), signal);
    }
  };

  const steps: ResultPhase[] = ['submit', 'poll', 'fetch'];
  const phases = steps.slice(0, steps.indexOf(facts.result) + 1);
  const cancelCall = () => (facts.result === 'submit' ? undefined : adapter.cancel?.(pollHandle()));

  it.each(requiredFixtures(facts, cancelCall() !== undefined))(
    'has the fixture %s, or a reason why not',
    (file) => {
      const reason = facts.skipped[file];
      expect([file, names.includes(file)]).toEqual([file, reason === undefined]);
      expect(reason ?? 'The fixture exists.').toMatch(/^[A-Z].{10,}\.$/);
    },
  );

  it('gives no reason for fixtures that are not required', () => {
    const required = requiredFixtures(facts, cancelCall() !== undefined);
    expect(Object.keys(facts.skipped).filter((file) => !required.includes(file))).toEqual([]);
  });

  it.each(names)('reads %s as the fixture expects', (file) => {
    const fixture = load(file);
    const signal = reply(file);
    const outcome = answer(fixture.phase, signal);
    expect(withoutLogAndBytes(outcome)).toEqual(fixture.expect);
    // The same input gives the same output: adapters keep no state between calls.
    expect(answer(fixture.phase, signal)).toEqual(outcome);
  });

  it('keeps the status of every refusal, and the body of those that judge the input', () => {
    for (const file of names) {
      const { phase } = load(file);
      const signal = reply(file);
      const outcome = answer(phase, signal) as Outcome;
      if (phase === 'cancel' || outcome.kind !== 'failed') continue;
      const { class: failureClass, retry, reply: kept } = outcome.failure;
      const isVerdict = ['rejected_input', 'content_policy'].includes(failureClass);
      const isBusy = failureClass === 'provider_unavailable' && retry === 'new_submit';
      const { status } = signal;
      const body = isVerdict && status >= 400 && /^\s*\{/.test(bytesOf(signal.body));
      expect([file, kept?.status, kept?.body !== undefined]).toEqual([
        file,
        body
          ? status
          : isBusy && status >= 400
            ? [429, 503, 529].includes(status)
              ? status
              : 429
            : undefined,
        body,
      ]);
    }
  });

  it.each(names.filter((file) => (load(file).expect as { kind?: string }).kind === 'succeeded'))(
    'returns the bytes of %s untouched',
    (file) => {
      const signal = reply(file);
      const outcome = answer(load(file).phase, signal) as Outcome;
      if (outcome.kind !== 'succeeded') throw new Error(outcome.kind);
      const { body } = outcome.output;
      expect('storedAs' in body ? body : Buffer.from(body)).toEqual(Buffer.from(signal.body));
      expect(outcome.output.mediaType).toBe(signal.headers['content-type']);
    },
  );

  it.each(names)(
    'expects the reply %s, unless its name says that it is none of the documented ones',
    (file) => {
      const { phase } = load(file);
      if (phase === 'upload' || phase === 'cancel') return;
      const { surprise } = answer(phase, reply(file)) as Outcome;
      expect(surpriseKindsOf(file)).toContain(surprise?.kind);
    },
  );

  const { state } = facts;
  if (state !== undefined)
    it.each(['queued', 'in_progress', 'of_tomorrow', 7, true, null])(
      'rejects a result in the state %s, which is not a known success',
      (word) => {
        expect(answer('submit', inState(reply('submit-accepted'), state, word))).toMatchObject({
          kind: 'failed',
          failure: { retry: 'never' },
        });
      },
    );

  const success = facts.result === 'submit' ? 'submit-accepted' : `${facts.result}-succeeded`;

  it.each(['image/png', 'audio/mpeg', 'video/mp4', 'model/gltf-binary', 'application/json', ''])(
    'rejects a result of 0 bytes with the type %s',
    (type) => {
      const nothing = replyOf(200, '', { 'content-type': type });
      expect(answer(facts.result, nothing)).toMatchObject({ kind: 'failed' });
    },
  );

  const emptied = withoutFiles(reply(success));
  if (emptied && facts.skipped[`${success}-without-result`] === undefined)
    it('returns a result whose files are empty, and says that it lacks them', () => {
      const outcome = answer(facts.result, emptied) as Outcome;
      expect(outcome).toMatchObject({ kind: 'succeeded', lacksFiles: true, surprise: { kind: 'no_files' } });
      expect(outcome.kind === 'succeeded' && outcome.output.body).toBe(emptied.body);
    });

  it('forwards the body to the row’s address as declared, byte for byte', () => {
    const before = bytesOf(oddBody);
    const call = adapter.submit(run);
    expect(call.url).toBe(definition.defaultBase + facts.submitPath);
    expect(call.method).toBe('POST');
    const { type, pieces } = encoded(facts.encoding);
    expect(call.headers?.['content-type']).toMatch(type);
    const sent = bytesOf(call.body);
    expect(pieces.filter((piece) => !sent.includes(piece))).toEqual([]);
    expect(facts.encoding === 'form' || sent === pieces[0]).toBe(true);
    expect(bytesOf(oddBody)).toBe(before);
    expect(adapter.submit(run)).toEqual(call);
  });

  it('calls the base it was created with', () => {
    const elsewhere = create('http://127.0.0.1:4010/provider');
    expect(elsewhere.submit(run).url).toBe(`http://127.0.0.1:4010/provider${facts.submitPath}`);
    expect(trusted(elsewhere, 'http://127.0.0.1:4010/provider/x', secret)).toBe(true);
    expect(trusted(elsewhere, 'http://127.0.0.1:4011/provider/x', secret)).toBe(false);
    expect(trusted(elsewhere, 'http://127.0.0.1.example:4010/', secret)).toBe(false);
  });

  it('calls what its handle names, returns the credential only from credential(), and only for its own origins', () => {
    const calls: HttpCall[] = [adapter.submit(run)];
    if (phases.includes('poll') && adapter.resume) calls.push(adapter.resume(pollHandle()));
    if (phases.includes('fetch') && adapter.resume) calls.push(adapter.resume(fetchHandle()));
    const cancel = cancelCall();
    if (cancel) calls.push(cancel);
    expect(calls.slice(1).map(({ method, url }) => `${method} ${url}`)).toEqual(facts.calls);
    const carried = Object.keys(facts.credential);
    for (const call of calls) {
      expect(Object.keys(call.headers ?? {}).filter((field) => carried.includes(field))).toEqual([]);
      expect(credentialHeaders(adapter, call, secret, 0)).toEqual(patterns(facts.credential));
      expect(credentialHeaders(adapter, call, undefined, 0)).toEqual({});
    }
    const { hostname } = new URL(definition.defaultBase);
    for (const url of [
      `http://${hostname}/`,
      `https://${hostname}.example/`,
      `https://${hostname}:8443/`,
      `https://example/${hostname}`,
      `https://not${hostname.replaceAll('.', '-')}.example/`,
    ]) {
      expect([url, trusted(adapter, url, secret)]).toEqual([url, false]);
    }
  });

  it.each(phases.flatMap((phase) => statusDefaults[phase].map((row) => [phase, ...row] as const)))(
    '%s answered with %i and an HTML page: %s, %s',
    (phase, status, failureClass, retry) => {
      const outcome = answer(phase, replyOf(status, '<html>oops</html>', { 'content-type': 'text/html' }));
      expect(outcome).toMatchObject({ kind: 'failed', failure: { class: failureClass, retry } });
      expect(outcome).not.toHaveProperty('failure.capped');
    },
  );

  it.each(phases)('%s: faults', (phase) => {
    const failure = (signal: Signal) => {
      const outcome = answer(phase, signal) as Outcome;
      return outcome.kind === 'failed' ? [outcome.failure.class, outcome.failure.retry] : outcome.kind;
    };
    const again = phase === 'submit' ? 'never' : 'same_call';
    const anew = phase === 'submit' ? 'new_submit' : 'same_call';
    expect(failure({ fault: 'not_sent', cause: 'connect' })).toEqual(['provider_unavailable', anew]);
    expect(failure({ fault: 'not_sent', cause: 'no_token' })).toEqual(['provider_unavailable', anew]);
    expect(failure({ fault: 'not_sent', cause: 'token_refused' })).toEqual(['provider_account', again]);
    expect(failure({ fault: 'ambiguous', cause: 'timeout' })).toEqual(['provider_timeout', again]);
    expect(failure({ fault: 'ambiguous', cause: 'reset' })).toEqual(['provider_failed', again]);
    expect(failure({ fault: 'oversize' })).toEqual(['unreadable', 'never']);
    expect(failure(replyOf(200, '<html>hello</html>', { 'content-type': 'text/html' }))).toEqual([
      'unreadable',
      phase === 'poll' ? 'same_call' : 'never',
    ]);
  });

  it('never puts text from a reply into the public sentence', () => {
    for (const file of names) {
      const { phase, expect: wanted } = load(file);
      const outcome = answer(phase, reply(file)) as Outcome | string | undefined;
      if (typeof outcome !== 'object' || outcome.kind !== 'failed') continue;
      const { failure } = outcome;
      const shown = JSON.stringify([
        failureClasses[failure.class].publicDetail,
        failure.fields?.map(({ msg }) => msg),
      ]);
      expect(shown).not.toMatch(/https?:|billing|balance|credits|request[ _-]?id/i);
      expect(failure.fields !== undefined).toBe(JSON.stringify(wanted).includes('"fields"'));
    }
  });
});
