import { cut } from '#schemas';

// Truncate before searching: an entry may echo any text from the caller, and a search must not block the event loop.
const longest = 1000;
const neutral = 'The provider did not accept this input.';

/** Text about our account at the provider is replaced entirely, because it does not help callers. */
const aboutOurAccount =
  /\b(billing|balance|credits?|top[ -]up|quota|api[ -]?key|subscription|invoice|payment|is locked|organi[sz]ation|your (?:account|plan|tier|team))\b/i;

/** The id of a request has a digit; a word does not. */
const withoutId = (all: string, token: string): string => (/\d/.test(token) ? '' : all);

const nothing = () => '';
const link = () => '(link)';

const scrubs: [RegExp, typeof withoutId][] = [
  [
    /\(?\b(?:request|trace|correlation|support)[ _-]?(?:id|code)s?\b[\s:=#]{0,8}([\w.-]{1,200})\)?/gi,
    withoutId,
  ],
  [/\breq_\w+/g, nothing],
  // Accounts and projects of the operator.
  [/@(?:[\w-]{1,100}\.){1,3}gserviceaccount\.com\b/gi, nothing],
  [/\bprojects\/[^/\s"']{1,200}/g, nothing],
  [/\bproject[ :#]{1,3}["']?[\w-]*\d[\w-]*/gi, nothing],
  [/\b(?:org|proj|sk|acct)[-_][\w-]{6,200}/g, nothing],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, nothing],
  [/\bhttps?:\/\/[^\s"'<>)\]]+/gi, link],
  [/(?<![a-z0-9.-])(?:[a-z0-9-]+\.)+[a-z]{2,24}\/[^\s"'<>)\]]*/gi, link],
  [/(?<!\s)\s{2,}/g, () => ' '],
];

/** A provider's sentence, cleaned for callers: without links and request ids, and at most 1,000 characters. */
export function publicText(text: string): string {
  const scrubbed = scrubs.reduce((rest, [pattern, by]) => rest.replaceAll(pattern, by), cut(text, longest));
  return scrubbed.trim() || neutral;
}

/** The same for a sentence about the whole request, which may also be about our account. */
export const publicSentence = (text: string): string =>
  aboutOurAccount.test(text) ? neutral : publicText(text);
