import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { type Control, amount } from './control.js';
import { simulatorFolder } from './folder.js';
import { failureOf } from './ledger/generation.js';
import { fileOf } from './media/media.js';
import type { Provider, Protocol, Reply, View } from './provider.js';
import type { Fault } from './schemas.js';

/**
 * A provider's replies, written in `apps/simulator/replies` from its public documentation. They are separate from the
 * adapters, so that both don't share a misunderstanding.
 */
export class Replies {
  private read: ReadonlyMap<string, Written> | undefined;

  constructor(
    private readonly provider: Provider,
    private readonly protocol: Partial<Protocol> = provider.protocols[0] ?? {},
  ) {}

  /**
   * The replies by their names. The file is read for the provider's first reply, because parsing the files of all providers takes longer
   * than the rest of the start.
   */
  private get all(): ReadonlyMap<string, Written> {
    this.read ??= readReplies(this.provider.name, this.protocol.name);
    return this.read;
  }

  /** A rejection of a submission: the provider's own reply for this status, if it has one. */
  refusal(status: number, control: Control): Reply {
    switch (status) {
      case 401:
        return this.accountTrouble('key');
      case 402:
        return this.accountTrouble('balance');
      case 422:
        return this.rejection({ at: ['prompt'], text: 'The prompt is not valid' });
      case 429:
        return withRetryAfter(this.plain('submit-busy'), control);
      case 503:
        return withRetryAfter(this.plain('submit-unavailable'), control);
      case 500:
        if (this.all.has('submit-failed')) return this.plain('submit-failed');
        return { status, body: { message: 'Internal Server Error' } };
      default:
        return gatewayPage(status);
    }
  }

  /** A rejection of the account. Every provider has replies for `key` and `balance`; some have more. */
  accountTrouble(name: string): Reply {
    return this.plain(`account-${name}`);
  }

  /** The reply to a submission that the provider's schema rejects. */
  rejection({ at, text }: Fault): Reply {
    const loc = JSON.stringify(at).slice(1, -1);
    return this.plain('submit-rejected-fields', {
      loc: loc === '' ? '"body"' : loc,
      field: at.join('.'),
      text: JSON.stringify(text).slice(1, -1),
      message: JSON.stringify(at.length === 0 ? text : `${at.join('.')}: ${text}`),
    });
  }

  /** The reply to a successful upload. */
  uploaded(id: string): Reply {
    return this.plain('upload-accepted', { id });
  }

  /** Undefined if the provider never rejects prompts at submission. */
  get policyRefusal(): Reply | undefined {
    return this.all.has('submit-content-policy') ? this.plain('submit-content-policy') : undefined;
  }

  /** The reply about an unknown ID. */
  get lost(): Reply {
    return this.plain('poll-lost');
  }

  /** The reply to an accepted submission, which is the result if the provider isn't polled. */
  submitted(view: View): Reply {
    return this.protocol.poll ? this.about(view, 'submit-accepted') : this.ended('submit', view);
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
    if (verdict === 'unknown' || !view) return this.plain(this.first('cancel-unknown', 'poll-lost'));
    if (verdict === 'too_late') return this.about(view, 'cancel-too-late');
    const removed = verdict === 'canceled' && view.phase === 'queued';
    return this.about(view, ...(removed ? ['cancel-removed'] : []), 'cancel-requested');
  }

  private ended(role: 'submit' | 'poll' | 'fetch', view: View): Reply {
    const success = role === 'submit' ? 'submit-accepted' : `${role}-succeeded`;
    // If results are fetched separately, a poll may not say how the generation ended.
    const otherwise = role === 'poll' && this.protocol.fetch ? success : `${role}-failed`;
    switch (failureOf(view.control)) {
      case 'job_failed':
        return this.about(view, `${role}-failed`);
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
        return view.control.has('no_bytes')
          ? { ...this.about(view, success), body: '' }
          : this.about(view, success);
    }
  }

  /** The first of these replies that exists, filled in for this generation. */
  private about(view: View, ...names: string[]): Reply {
    const variant = this.protocol.variantOf?.(view) ?? '';
    const name = this.first(...names.flatMap((each) => [`${each}${variant}`, each]));
    return this.plain(name, this.valuesOf(view), view);
  }

  private valuesOf(view: View): Values {
    const { generation, control, api, assets } = view;
    const { id, model, prompt } = generation;
    const query = this.provider.links ? `?${this.provider.links.queryOf(generation)}` : '';
    let count = 0;
    return {
      id,
      model,
      prompt: JSON.stringify(prompt),
      api,
      assets,
      cost: (usual) => control.get('cost') || usual,
      url: (ending) => `${assets}/files/${id}/${count++}.${ending}${query}`,
      base64: (ending) => fileOf(generation, ending).bytes.toString('base64'),
      hex: (ending) => fileOf(generation, ending).bytes.toString('hex'),
      ...this.protocol.values?.(view),
    };
  }

  private plain(name: string, values: Values = {}, view?: View): Reply {
    const [status, body, headers = {}] = this.all.get(name) ?? missing(this.provider, name);
    const filled = Object.fromEntries(
      Object.entries(headers).map(([field, value]) => [field, fill(value, values)]),
    );
    const [, ending] = /^<bytes\.(\w+)>$/.exec(body) ?? [];
    if (ending !== undefined && view) {
      const { type, bytes } = fileOf(view.generation, ending);
      return { status, headers: { 'content-type': type, ...filled }, body: bytes };
    }
    const bare = this.protocol.bareIds && view?.control.has('int64_id');
    const text = fill(bare ? body.replaceAll('"<id>"', '<id>') : body, values);
    const type = text.startsWith('{') ? 'application/json' : 'text/plain; charset=utf-8';
    return { status, headers: { 'content-type': type, ...filled }, body: text };
  }

  private first(...names: string[]): string {
    return names.find((each) => this.all.has(each)) ?? missing(this.provider, names.join(' or '));
  }
}

/** Values of placeholders: a text, or a function of the placeholder's argument. */
type Values = Record<string, string | ((argument: string) => string)>;

/** Replaces `<name>`, `<name.argument>` and `<name:argument>` with their values. */
const fill = (text: string, values: Values): string =>
  text.replaceAll(/<([a-z]\w*)(?:[.:]([\w.]*))?>/g, (_found, name: string, argument = '') => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for <${name}> in ${text}`);
    return typeof value === 'function' ? value(argument) : value;
  });

/** An HTML page from a gateway in front of the provider. */
export const gatewayPage = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>Gateway</title></head><body><center><h1>cloud edge</h1></center></body></html>\n',
});

/** Adds `Retry-After` only if a control asks for it. */
function withRetryAfter(reply: Reply, control: Control): Reply {
  if (!control.has('retry_after')) return reply;
  const headers = { ...reply.headers, 'retry-after': String(amount(control, 'retry_after', 1)) };
  return { ...reply, headers };
}

function missing({ name }: Provider, what: string): never {
  throw new Error(`apps/simulator/replies/${name}.yaml has no ${what}`);
}

type Written = [status: number, body: string, headers?: Record<string, string>];

function readReplies(provider: string, protocol = ''): Map<string, Written> {
  const text = readFileSync(path.join(simulatorFolder, 'replies', `${provider}.yaml`), 'utf8');
  const file = parse(text) as Record<string, Record<string, Written>>;
  return new Map(Object.entries({ ...file['replies'], ...file[protocol] }));
}
