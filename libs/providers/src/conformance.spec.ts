import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import type { Handle, HttpCall, HttpReply, Json, Outcome, ProviderAdapter, Run, Signal } from './contract.js';
import { credentialHeaders } from './credential.js';
import { failureClasses } from './failure.js';
import { providerList } from './providers.js';
import type { Phase } from './rules.js';

interface Fixture {
  phase: Phase | 'cancel';
  reply: { status: number; headers: Record<string, string>; body: Json };
  expect: Json;
}

interface Facts {
  run: Omit<Run, 'body'>;
  submitPath: string;
  credential: Record<string, string>;
  /** Every call after the submission, in order: poll, fetch, cancel. */
  calls: string[];
  skipped: Record<string, string>;
}

/** What every provider shows by a true reply; a provider that cannot says why in its provider.json. */
const required = `
  submit-accepted submit-without-handle submit-rejected-fields submit-rejected-sentence submit-account submit-busy
  submit-unavailable submit-model-gone
  poll-running poll-unknown-word poll-succeeded poll-failed poll-content-policy poll-lost poll-canceled
  fetch-succeeded fetch-rejected-fields fetch-content-policy fetch-failed
  cancel-requested cancel-too-late
`
  .trim()
  .split(/\s+/);

/** Number forms, key order, doubled keys and white space that no parser gives back. */
const oddBody = new TextEncoder().encode(
  '{ "seed":18446744073709551615,\t"strength": 1.0,"b":1e2,"a":"\\u00e9", "a" : "é",\r\n "prompt":"a cat" }  ',
);

const roundTrip = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const reply = (status: number, body: string, headers: Record<string, string> = {}): HttpReply => ({
  status,
  headers,
  body: new TextEncoder().encode(body),
});

/** What a fixture states: the whole outcome but for the log's note and the output, which has its own case. */
const withoutLogAndBytes = (outcome: unknown): unknown =>
  JSON.parse(
    JSON.stringify(outcome, (key, value: unknown) => (['note', 'output'].includes(key) ? undefined : value)),
  );

const bytesOf = (body: Json): string => (typeof body === 'string' ? body : JSON.stringify(body));

const handleOf = (outcome: Outcome): Handle => {
  if (outcome.kind !== 'pending' && outcome.kind !== 'next') throw new Error(`no handle: ${outcome.kind}`);
  return roundTrip(outcome.handle);
};

const trusted = (of: ProviderAdapter, url: string): boolean =>
  Object.keys(credentialHeaders(of, { method: 'GET', url }, 'the-secret', 0)).length > 0;

describe.each(providerList.map((definition) => [definition.name, definition] as const))(
  '%s',
  (name, definition) => {
    const folder = join(import.meta.dirname, 'providers', name, 'fixtures');
    const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8'));
    const load = (file: string) => read(file) as Fixture;
    const facts = read('provider') as Facts;
    const names = readdirSync(folder)
      .map((file) => file.replace(/\.json$/, ''))
      .filter((file) => file !== 'provider');
    const base = definition.defaultBase;
    const adapter: ProviderAdapter = definition.create(base);
    const run: Run = { ...facts.run, body: oddBody };

    const signalOf = (fixture: string): HttpReply => {
      const { reply: recorded } = load(fixture);
      return reply(recorded.status, bytesOf(recorded.body), recorded.headers);
    };

    const pollHandle = () => handleOf(adapter.onSubmit(run, signalOf('submit-accepted')));
    const resumed = (handle: Handle, signal: Signal): Outcome => {
      if (!adapter.onResume) throw new Error('the provider has no resume');
      return adapter.onResume(handle, signal);
    };
    const fetchHandle = () => handleOf(resumed(pollHandle(), signalOf('poll-succeeded')));

    const answer = (phase: Fixture['phase'], signal: Signal): unknown => {
      switch (phase) {
        case 'submit':
          return adapter.onSubmit(run, signal);
        case 'poll':
          return resumed(pollHandle(), signal);
        case 'fetch':
          return resumed(fetchHandle(), signal);
        case 'cancel':
          return adapter.onCancel?.(pollHandle(), signal);
      }
    };

    const phases: Phase[] = [
      'submit',
      ...(adapter.onResume ? (['poll'] as const) : []),
      ...(names.includes('fetch-succeeded') ? (['fetch'] as const) : []),
    ];

    it.each(required)('shows %s by a fixture, or says why it cannot', (file) => {
      const reason = facts.skipped[file];
      expect(existsSync(join(folder, `${file}.json`))).toBe(reason === undefined);
      expect(reason ?? 'It is shown by its fixture.').toMatch(/^[A-Z].{10,}\.$/);
    });

    it.each(names)('reads %s as its fixture says', (file) => {
      const fixture = load(file);
      const signal = signalOf(file);
      const outcome = answer(fixture.phase, signal);
      expect(withoutLogAndBytes(outcome)).toEqual(fixture.expect);
      // The same input gives the same output: nothing is remembered between calls.
      expect(answer(fixture.phase, signal)).toEqual(outcome);
    });

    it.each(
      names
        .filter((file) => file.endsWith('-succeeded') && file.startsWith('fetch'))
        .concat(names.includes('fetch-succeeded') ? [] : ['poll-succeeded']),
    )('returns the bytes of %s untouched', (file) => {
      const signal = signalOf(file);
      const outcome = answer(load(file).phase, signal) as Outcome;
      if (outcome.kind !== 'succeeded') throw new Error(outcome.kind);
      expect(Buffer.from(outcome.output.body).equals(Buffer.from(signal.body))).toBe(true);
      expect(outcome.output.mediaType).toBe('application/json');
    });

    it('forwards the body byte for byte to the row’s address', () => {
      const before = Buffer.from(oddBody).toString('hex');
      const call = adapter.submit(run);
      expect(call.url).toBe(base + facts.submitPath);
      expect(call.method).toBe('POST');
      expect(Buffer.from(call.body ?? []).toString('hex')).toBe(before);
      expect(call.headers?.['content-type']).toBe('application/json');
      expect(adapter.submit(run)).toEqual(call);
    });

    it('addresses the base it was created with', () => {
      const elsewhere = definition.create('http://127.0.0.1:4010/partner');
      expect(elsewhere.submit(run).url).toBe(`http://127.0.0.1:4010/partner${facts.submitPath}`);
      expect(trusted(elsewhere, 'http://127.0.0.1:4010/partner/x')).toBe(true);
      expect(trusted(elsewhere, 'http://127.0.0.1:4011/partner/x')).toBe(false);
      expect(trusted(elsewhere, 'http://127.0.0.1.example:4010/')).toBe(false);
    });

    it('calls what its handle names; puts the credential into credential() only, and gives it to its own origins only', () => {
      const calls: HttpCall[] = [adapter.submit(run)];
      if (adapter.resume) calls.push(adapter.resume(pollHandle()));
      if (phases.includes('fetch') && adapter.resume) calls.push(adapter.resume(fetchHandle()));
      if (adapter.cancel) calls.push(adapter.cancel(pollHandle()));
      expect(calls.slice(1).map(({ method, url }) => `${method} ${url}`)).toEqual(facts.calls);
      const carried = Object.keys(facts.credential);
      for (const call of calls) {
        expect(Object.keys(call.headers ?? {}).filter((field) => carried.includes(field))).toEqual([]);
        expect(credentialHeaders(adapter, call, 'the-secret', 0)).toEqual(facts.credential);
        expect(credentialHeaders(adapter, call, undefined, 0)).toEqual({});
      }
      const { hostname } = new URL(base);
      for (const url of [
        `http://${hostname}/`,
        `https://${hostname}.example/`,
        `https://${hostname}:8443/`,
        `https://example/${hostname}`,
        `https://not${hostname.replaceAll('.', '-')}.example/`,
      ]) {
        expect([url, trusted(adapter, url)]).toEqual([url, false]);
      }
    });

    const submitDefaults: [number, string, string][] = [
      [301, 'partner_failed', 'never'],
      [400, 'rejected_input', 'never'],
      [401, 'partner_account', 'never'],
      [402, 'partner_account', 'never'],
      [403, 'partner_account', 'never'],
      [404, 'model_gone', 'never'],
      [405, 'partner_failed', 'never'],
      [408, 'partner_timeout', 'never'],
      [413, 'rejected_input', 'never'],
      [415, 'rejected_input', 'never'],
      [422, 'rejected_input', 'never'],
      [429, 'partner_unavailable', 'new_submit'],
      [500, 'partner_failed', 'never'],
      [502, 'partner_failed', 'never'],
      [504, 'partner_timeout', 'never'],
      // May have been accepted: reported as a failure that keeps the caller's key, never as "try again".
      [425, 'partner_failed', 'never'],
      [529, 'partner_failed', 'never'],
    ];
    const pollDefaults: [number, string, string][] = [
      [302, 'partner_failed', 'same_call'],
      [401, 'partner_account', 'same_call'],
      [403, 'partner_account', 'same_call'],
      [408, 'partner_timeout', 'same_call'],
      [425, 'partner_unavailable', 'same_call'],
      [429, 'partner_unavailable', 'same_call'],
      [500, 'partner_failed', 'same_call'],
      [502, 'partner_failed', 'same_call'],
      [503, 'partner_unavailable', 'same_call'],
      [504, 'partner_timeout', 'same_call'],
      [529, 'partner_unavailable', 'same_call'],
    ];
    const fetchDefaults: [number, string, string][] = [
      ...pollDefaults.filter(([status]) => [408, 425, 429].includes(status) || status >= 500),
      [403, 'partner_account', 'never'],
      [410, 'partner_failed', 'never'],
      [422, 'rejected_input', 'never'],
    ];
    const defaults = { submit: submitDefaults, poll: pollDefaults, fetch: fetchDefaults };

    it.each(phases.flatMap((phase) => defaults[phase].map((row) => [phase, ...row] as const)))(
      '%s answered %i with a page of HTML: %s, %s',
      (phase, status, failureClass, retry) => {
        const outcome = answer(phase, reply(status, '<html>oops</html>', { 'content-type': 'text/html' }));
        expect(outcome).toMatchObject({ kind: 'failed', failure: { class: failureClass, retry } });
        expect(outcome).not.toHaveProperty('failure.lost');
      },
    );

    it.each(phases)('%s: faults', (phase) => {
      const failure = (signal: Signal) => {
        const outcome = answer(phase, signal) as Outcome;
        return outcome.kind === 'failed' ? [outcome.failure.class, outcome.failure.retry] : outcome.kind;
      };
      const again = phase === 'submit' ? 'never' : 'same_call';
      expect(failure({ fault: 'not_sent', cause: 'connect' })).toEqual([
        'partner_unavailable',
        phase === 'submit' ? 'new_submit' : 'same_call',
      ]);
      expect(failure({ fault: 'ambiguous', cause: 'timeout' })).toEqual(['partner_timeout', again]);
      expect(failure({ fault: 'ambiguous', cause: 'reset' })).toEqual(['partner_failed', again]);
      expect(failure({ fault: 'oversize' })).toEqual(['unreadable', 'never']);
      expect(failure(reply(200, '<html>hello</html>'))).toEqual([
        'unreadable',
        phase === 'poll' ? 'same_call' : 'never',
      ]);
    });

    it('never lets a reply reach the public sentence', () => {
      for (const file of names) {
        const { expect: wanted } = load(file);
        const outcome = answer(load(file).phase, signalOf(file)) as Outcome | string | undefined;
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
  },
);
