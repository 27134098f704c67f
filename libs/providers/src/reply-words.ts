import { cut, type Json } from '#schemas';
import type { Phase } from './condition.js';
import type { HttpReply } from './contract.js';
import { firstRule, type Rule } from './rules.js';

/**
 * The meaning of a reply according to the provider's account reports, its rules or, if neither match, its words. Reports
 * take precedence over rules, unless a rule or the words say that content was rejected: some providers reject content
 * with the status and the code of a key without permission. Words about our account take precedence over a rule that rejects
 * the input.
 */
export function meaningOf(
  account: readonly Rule[],
  rules: readonly Rule[],
  ...reply: [phase: Phase, reply: HttpReply, json: Json | undefined]
): Rule | undefined {
  const rule = firstRule(rules, ...reply);
  if (rule?.class === 'content_policy') return rule;
  const report = firstRule(account, ...reply);
  const words = ruleOfWords(...reply);
  // A status or a field says where the provider noticed the problem; the words say what it is about.
  const isAccount = rule?.class === 'rejected_input' && words?.class === 'provider_account';
  if (!report && rule && !isAccount) return rule;
  return words?.class === 'content_policy' ? words : (report ?? words);
}

const contentWords = [
  /content[ _-](?:policy[ _-]violation|violat|moderat|filter)/i,
  /violates (?:our |the |its )?(?:usage|content|community|safety)[ _-](?:guideline|polic)/i,
  /(?:prompt|input|image|video|text|content) (?:was|were|has been|is) (?:flagged|moderated)/i,
  /safety_check_type|nsfw/i,
];
/** A suspended account is an account problem, even if its content was the reason. */
const bannedAccount = /suspend|banned|disabled|deactivated|terminated|locked/i;

/** An empty balance, unpaid bills, or a used-up quota of a day or longer. */
const accountWords = [
  /(?:insufficient|not enough|not have (?:any|enough)|n['’]t have (?:any|enough)|out of|no more|exhausted|depleted|used all)(?: [a-z]{1,20}){0,2}[ _-]?(?:credits?|balance|funds)\b/i,
  /(?:credits?|balance|funds)(?: (?:is|are|has|have|been|too|run)){0,3} (?:exhausted|depleted|insufficient|low|used up|out|empty|negative)\b/i,
  /(?:daily|weekly|monthly|yearly|annual|lifetime)(?: [\w-]{1,30}){0,3} (?:limit|quota|cap|budget|allowance)\b/i,
  /\b(?:limit|quota|cap|budget|allowance)(?: [\w-]{1,30}){0,4} (?:per|for the|for this|of the|of this|this|a) (?:day|week|month|year)\b/i,
  /(?:limit|quota)(?: [\w-]{1,30}){0,6} 24[ -]?h(?:ours?)?\b/i,
  /(?:spend|spending|billing|budget)[ _-](?:hard[ _-])?(?:limit|cap|quota)/i,
  /\b(?:specified|workspace|organi[sz]ation|account|plan)(?: [\w-]{1,30}){0,2} usage limits?\b/i,
  /\b(?:exhausted|exceeded|used up)(?: [\w-]{1,30}){0,2} (?:free|trial)(?: [\w-]{1,30}){0,2} (?:quota|allowance)\b/i,
  /per[ _-]?(?:day|month)/i,
  /payment[ _-]required|arrears|arrearage/i,
  /(?:account|balance|invoice|bill|payment)(?: (?:is|has|been)){0,2} (?:overdue|past due|unpaid)/i,
  /\b(?:overdue|past[ -]due|unpaid) (?:balance|invoice|bill|payment)s?\b/i,
  /enable billing|billing(?: (?:is|has|been|account)){0,3} (?:not (?:enabled|active)|disabled|inactive|closed)/i,
];
/** Calls to pay. With the status 429 they are advertisements, like those for a larger plan. */
const paymentWords = [
  /\b(?:top[ -]?up|recharge|refill)(?: [\w-]{1,30}){0,2} (?:account|balance|credits?|wallet)\b/i,
  /\b(?:buy|purchase)(?: [\w-]{1,30}){0,2} credits\b/i,
  /\b(?:add|no|update|valid|missing)(?: [\w-]{1,30}){0,2} payment method\b/i,
  /\b(?:check|update|review|set up) (?:your )?(?:[\w-]{1,30} ){0,3}billing\b/i,
];
/** Our account lacks a permission, because it is not verified, because of its plan, or because it was restricted. */
const permissionWords = [
  /\b(?:organi[sz]ation|account|team|workspace|business|identity)(?: [\w-]{1,30}){0,4} verifi(?:ed|cation)\b/i,
  /\bverif(?:y|ication of)(?: [\w-]{1,30}){0,2} (?:organi[sz]ation|account|team|workspace|business|identity)\b/i,
  /\breal[ -]name (?:authentication|verification|certification)\b/i,
  /\b(?:upgrade|subscribe to)(?: [\w-]{1,30}){0,4} (?:plan|tier|subscription|account)\b/i,
  /\b(?:available|included|enabled|allowed|supported|permitted|limited|restricted)(?: [\w-]{1,30}){0,2} (?:on|in|for|to|with|by)(?: [\w-]{1,30}){0,4} (?:plans?|tiers?|subscriptions?|subscribers|organi[sz]ations?|accounts?|teams?)\b/i,
  /\b(?:requires?|needs?)(?: [\w-]{1,30}){0,4} (?:plan|tier|subscription)\b/i,
  /\byour (?:[\w-]{1,30} )?(?:organi[sz]ation|account|team|workspace|project|tenant|subscription|plan|tier|key|credentials?)(?: [\w-]{1,30}){0,5} (?:not|isn['’]t|doesn['’]t|hasn['’]t|can['’]t|cannot|no longer|must|disabled|suspended|banned|restricted|blocked|locked|inactive|expired|closed|terminated|deactivated)\b/i,
  /\byour (?:[\w-]{1,30} ){2}(?:plan|subscription) (?:does )?not\b/i,
  /\byour account (?:status|is in good standing)\b/i,
  /\b(?:only|not) available (?:for|to)(?: [\w+-]{1,30}){1,3} users\b|\b(?:free|trial) (?:users|accounts|tier) (?:cannot|can['’]t|may not)\b/i,
  /\b(?:user location|territory|your (?:country|region|location))(?: [\w-]{1,30}){0,3} not (?:supported|available|allowed)\b|\bnot (?:supported|available|allowed) in your (?:country|region|location)\b/i,
  /\b(?:organi[sz]ation|account|team|workspace|project|tenant|key)(?: [\w-]{1,30}){0,4} (?:do not|does not|don['’]t|doesn['’]t|without) (?:have )?(?:access|permission)\b/i,
  // The file of a 3D model is the caller's.
  /\byou (?:do not|don['’]t) have (?:access|permission)(?: [\w-]{1,30}){1,3} (?:model|endpoint|feature)\b(?! (?:file|url|at)\b)/i,
  /\baccess to (?:this |the )?model (?:is |was )?(?:denied|restricted)\b|\b(?:model|workspace) access (?:is |was )?denied\b/i,
  /\b(?:model|service)(?: [\w.-]{1,60}){0,2} not (?:been )?(?:activated|purchased|subscribed)\b/i,
  /\b(?:accept|agree to|accepted|agreed to)(?: [\w-]{1,30}){0,3} (?:terms of (?:service|use)|terms and conditions|(?:model|licen[cs]e|usage) terms|licen[cs]e|user agreement)\b/i,
  /\bapi[ _-]?key(?: [\w-]{1,30}){0,3} (?:lacks?|missing)(?: [\w-]{1,30}){0,3} (?:permissions?|scopes?)\b/i,
  /\b(?:organi[sz]ation|account|team|workspace|tenant|subscription|api[ _-]?key|credentials?) (?:is|was|has|has been|is currently|is only|is not) (?:authori[sz]ed|disabled|suspended|banned|restricted|blocked|locked|inactive|expired|closed|terminated|deactivated)\b/i,
];
/** Input settings that contain the word "balance". */
const inputWords = /(?:white|colou?r|tone|audio|stereo)[ _-]balance/i;
/** A rate limit, which recovers by itself unless it is zero. */
const rateWords =
  /per[ _-]?(?:second|sec|minute|min|hour)|\/ ?(?:second|sec|minute|min|hour)\b|\b[rtq]p[ms]\b|concurren/i;
const zeroLimit = /limit: 0(?:[^.\d]|$)/i;

const saysContent = (text: string): boolean =>
  contentWords.some((words) => words.test(text)) && !bannedAccount.test(text);
const saysAccount = (text: string): boolean =>
  zeroLimit.test(text) ||
  (accountWords.some((words) => words.test(text)) && !rateWords.test(text) && !inputWords.test(text));
const saysPayment = (text: string): boolean => paymentWords.some((words) => words.test(text));
const saysPermission = (text: string): boolean =>
  permissionWords.some((words) => words.test(text)) && !rateWords.test(text);

/**
 * The meaning of an error's words if none of the provider's own rules match. Most providers document their statuses but
 * not their sentences, and use one status for several problems: 403 for a key and for content, 429 for load and for a
 * monthly budget.
 */
function ruleOfWords(phase: Phase, reply: HttpReply, json: Json | undefined): Rule | undefined {
  const { status } = reply;
  if (status < 400 || status > 429) return undefined;
  const texts = textsOf(json ?? new TextDecoder().decode(reply.body.subarray(0, maxLength)));
  // A rejected poll says nothing about the run's content.
  if (phase !== 'poll' && [401, 402, 403, 429].includes(status) && texts.some(saysContent))
    return { class: 'content_policy', equals: 'words of content' };
  // The rejection of an input may quote the input.
  const own = [400, 422].includes(status) ? texts.map(unquoted) : texts;
  const account = { class: 'provider_account', retry: 'same_call', equals: 'words of our account' } as const;
  if (own.some(saysAccount)) return { ...account, account: 'balance' };
  // Providers advertise a larger plan wherever they limit a rate.
  if (status === 429) return undefined;
  if (own.some(saysPayment)) return { ...account, account: 'balance' };
  return own.some(saysPermission) ? { ...account, account: 'key' } : undefined;
}

/** The text outside quotation marks. */
const unquoted = (text: string): string =>
  text
    .split(/["“”`]|\s'|'\s/)
    .filter((_, index) => index % 2 === 0)
    .join(' ');

const maxTexts = 100;
const maxLength = 1000;
/** Members in which providers repeat the caller's text. */
const echoes = new Set(['input', 'prompt', 'ctx', 'loc']);

/** The first strings of a reply, breadth first, without the caller's own. */
function textsOf(json: Json): string[] {
  const texts: string[] = [];
  const waiting: Json[] = [json];
  for (const value of waiting) {
    if (texts.length >= maxTexts || waiting.length > 10 * maxTexts) break;
    if (typeof value === 'string') texts.push(cut(value, maxLength));
    else if (Array.isArray(value)) waiting.push(...value.slice(0, maxTexts));
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value).slice(0, maxTexts))
        if (!echoes.has(name)) waiting.push(member);
  }
  return texts;
}
