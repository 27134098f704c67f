import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Control, amount } from './control.js';
import { failureOf } from './ledger/generation.js';
import { fileOf, inlineFiles } from './media/media.js';
import type { Partner, Protocol, Reply, View } from './partner.js';

/**
 * The true replies of a partner as they were recorded, in the same files that its adapter is tested with: the two
 * sides do not share a misunderstanding. In what is said about a generation, id, prompt and URLs are its
 * own; everything around them keeps its bytes, such as a number of 64 bits.
 */
export class Replies {
  /** By the names of the files. */
  private readonly own: Map<string, Reply>;
  private readonly all: Map<string, Reply>;
  private readonly recordedId: string | undefined;

  constructor(
    private readonly partner: Partner,
    private readonly protocol: Pick<Protocol, 'fixtures' | 'id'> & Partial<Protocol> = partner.protocols[0] ??
      {},
  ) {
    this.own = readFolder(partner.name, protocol.fixtures ?? '');
    const others = partner.protocols.flatMap(({ fixtures = '' }) => [...readFolder(partner.name, fixtures)]);
    this.all = new Map([...others, ...Object.entries(partner.replies ?? {}), ...this.own]);
    const { id } = protocol;
    if (id === undefined) return;
    const accepted = textOf(this.own.get('submit-accepted'));
    this.recordedId = new RegExp(`"${id}"\\s*:\\s*"?(?:[^",}]*/)?([^",}]+)`).exec(accepted)?.[1];
    if (this.recordedId === undefined) throw new Error(`${partner.name}: no "${id}" in submit-accepted`);
  }

  /** Why a submission is not accepted, with a status of the partner where it has words for it. */
  refusal(status: number, control: Control): Reply {
    switch (status) {
      case 401:
        return this.first(
          'submit-account-key',
          'submit-account-permission',
          'submit-unauthenticated',
          'submit-account',
        );
      case 402:
        return this.first('submit-no-credit', 'submit-account');
      case 422:
        return this.first('submit-rejected-fields', 'submit-rejected-sentence');
      case 429:
        return withRetryAfter(this.first('submit-busy'), control);
      case 503:
        return withRetryAfter(this.first('submit-unavailable'), control);
      case 500:
        return this.all.get('submit-failed') ?? { status, body: { message: 'Internal Server Error' } };
      default:
        return gatewayPage(status);
    }
  }

  /** Undefined for a partner that refuses no prompt at submission. */
  get policyRefusal(): Reply | undefined {
    return this.own.get('submit-content-policy');
  }

  /** What it says about an id that it does not know. */
  get lost(): Reply {
    return this.first('poll-lost', 'fetch-lost');
  }

  /** To a submission that was accepted; the result where it comes at once. */
  submitted(view: View): Reply {
    return this.protocol.id === undefined ? this.ended('submit', view) : this.about(view, 'submit-accepted');
  }

  poll(view: View): Reply {
    const { phase, control } = view;
    switch (phase) {
      case 'queued':
        return this.about(view, 'poll-queued', 'poll-running');
      case 'running':
        return this.about(
          view,
          ...(control.has('unknown_status') ? ['poll-unknown-word'] : []),
          'poll-running',
        );
      case 'canceled':
        return this.about(view, 'poll-canceled', 'poll-running');
      case 'failed':
      case 'succeeded':
        return this.ended('poll', view);
    }
  }

  fetch(view: View): Reply {
    const { phase } = view;
    if (phase === 'canceled') return this.about(view, 'fetch-canceled', 'poll-lost');
    if (phase === 'queued' || phase === 'running') return this.about(view, 'fetch-too-early', 'poll-lost');
    return this.ended('fetch', view);
  }

  cancel(verdict: 'canceled' | 'too_late' | 'ignored' | 'unknown', view?: View): Reply {
    if (verdict === 'unknown') return this.first('cancel-unknown', 'poll-lost');
    if (verdict === 'too_late') return this.first('cancel-too-late');
    const removed = verdict === 'canceled' && view?.phase === 'queued';
    return this.first(...(removed ? ['cancel-removed'] : []), 'cancel-requested');
  }

  private ended(role: 'submit' | 'poll' | 'fetch', view: View): Reply {
    const success = role === 'submit' ? 'submit-accepted' : `${role}-succeeded`;
    // Where the result has a call of its own, a poll may know nothing yet of how it ended.
    const otherwise = role === 'poll' && this.protocol.fetch ? success : `${role}-failed`;
    switch (failureOf(view.control)) {
      case 'job_failed':
        return this.about(view, (role === 'poll' && this.protocol.failed) || `${role}-failed`);
      case 'policy_submit':
        return this.about(view, `${role}-content-policy`, otherwise);
      case 'policy_output':
        return this.about(view, `${role}-content-policy-of-output`, `${role}-content-policy`, otherwise);
      case null:
        if (view.control.has('no_asset'))
          return this.about(
            view,
            role === 'submit' ? 'submit-without-result' : `${success}-without-result`,
            `${role}-without-result`,
            success,
          );
        return this.about(view, success);
    }
  }

  /** The first of these replies that is recorded, with what belongs to this generation. */
  private about(view: View, ...names: string[]): Reply {
    const variant = this.protocol.variantOf?.(view) ?? '';
    const name = names.flatMap((each) => [`${each}${variant}`, each]).find((each) => this.all.has(each));
    const reply = this.first(name ?? names.join(', '));
    const ended = view.phase === 'succeeded' && /succeeded|accepted/.test(name ?? '');
    const type = reply.headers?.['content-type'] ?? '';
    if (ended && /^(image|video|audio)\//.test(type))
      return { ...reply, body: fileOf(view.generation, type).bytes };
    return { ...reply, body: this.adapted(textOf(reply), view, ended) };
  }

  private adapted(recorded: string, view: View, ended: boolean): string {
    const { edit, base, bareIds, pollsElsewhere } = this.protocol;
    let text = edit?.(recorded, view) ?? recorded;
    const mine = pollsElsewhere ? view.assets : view.api;
    if (ended) text = inlineFiles(this.linked(text, view), view.generation);
    if (base !== undefined) text = text.replaceAll(base, mine);
    const prompt = `"prompt":${JSON.stringify(view.generation.prompt)}`;
    text = text.replaceAll(/"prompt":\s*"[^"]*"/g, () => prompt);
    if (this.recordedId === undefined) return text;
    const { id } = view.generation;
    if (bareIds && view.control.has('int64_id')) text = text.replaceAll(`"${this.recordedId}"`, id);
    return text.replaceAll(this.recordedId, id);
  }

  /** Every file on the partner's other host. */
  private linked(text: string, { generation, assets }: View): string {
    const { base } = this.protocol;
    const query = this.partner.links ? `?${this.partner.links.queryOf(generation)}` : '';
    let count = 0;
    return text.replaceAll(/https:\/\/[^"\\\s]+/g, (url) => {
      if (base !== undefined && url.startsWith(base)) return url;
      const [, ending = 'png'] = /\.(mp4|mp3|glb)\b/.exec(new URL(url).pathname) ?? [];
      return `${assets}/files/${generation.id}/${count++}.${ending}${query}`;
    });
  }

  private first(...names: string[]): Reply {
    const name = names.find((each) => this.all.has(each));
    const reply = name === undefined ? undefined : this.all.get(name);
    if (!reply) throw new Error(`${this.partner.name}: no reply is recorded as ${names.join(' or ')}`);
    return reply;
  }
}

/** A page that a gateway in front of the partner sends. */
export const gatewayPage = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>Gateway</title></head><body><center><h1>cloud edge</h1></center></body></html>\n',
});

/** The recorded pauses would outlast every test: a refusal names the seconds to wait only when it is asked to. */
function withRetryAfter(reply: Reply, control: Control): Reply {
  const headers = Object.fromEntries(
    Object.entries(reply.headers ?? {}).filter(([name]) => !/^(date|retry-after|ratelimit-.*)$/.test(name)),
  );
  if (control.has('retry_after')) headers['retry-after'] = String(amount(control, 'retry_after', 1));
  return { ...reply, headers, body: textOf(reply).replace(/"retryDelay":"[^"]*"/, '"retryDelay":"0s"') };
}

function textOf(reply: Reply | undefined): string {
  const { body = '' } = reply ?? {};
  return typeof body === 'string' ? body : JSON.stringify(body);
}

const root = findRoot(import.meta.dirname);
const read = new Map<string, Map<string, Reply>>();

function readFolder(provider: string, fixtures: string): Map<string, Reply> {
  const folder = path.join(root, 'libs/providers/src/providers', provider, 'fixtures', fixtures);
  const known = read.get(folder);
  if (known) return known;
  const replies = readdirSync(folder)
    .filter((name) => name.endsWith('.json') && name !== 'provider.json')
    .map((name): [string, Reply] => {
      const { reply } = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as { reply: Reply };
      return [name.slice(0, -'.json'.length), reply];
    });
  read.set(folder, new Map(replies));
  return new Map(replies);
}

function findRoot(folder: string): string {
  if (existsSync(path.join(folder, 'package.json'))) return folder;
  if (path.dirname(folder) === folder) throw new Error('no package.json above this file');
  return findRoot(path.dirname(folder));
}
