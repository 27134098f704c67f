/** The labels that tell one installation from another. Prometheus sets them, not the apps. */
export const environment = ['namespace', 'cluster'] as const;

/** `ALERTS` are those of our rules, so they are chosen by name. */
const ours = /^(router[_:]|ALERTS$)/;
const listed = environment.join(', ');

/** Strings, label matchers, ranges and label lists are single parts, so that nothing inside them is taken for a name. */
const part =
  /"(?:[^"\\]|\\.)*"|\{(?:"(?:[^"\\]|\\.)*"|[^"}])*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring|group_left|group_right)\b(?:\s*\([^)]*\))?|[A-Za-z_:][\w:]*|\d[\w.]*|\s+|[^]/g;
const partsOf = (expression: string): string[] => [...expression.matchAll(part)].map(([text]) => text);

const words = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);
const isName = (text: string) => /^[A-Za-z_:][\w:]*$/.test(text) && !words.has(text.toLowerCase());
const isList = (text: string) => /^(by|without|on|ignoring|group_left|group_right)\b/.test(text);
const aggregation = /^(sum|min|max|avg|count|group|quantile|topk|bottomk|stddev|stdvar|count_values)$/;

/** The next part that is not white space. */
const following = (parts: readonly string[], index: number): string =>
  parts.slice(index + 1).find((text) => text.trim() !== '') ?? '';
const isMetric = (parts: readonly string[], index: number): boolean => {
  const text = parts[index] ?? '';
  const next = following(parts, index);
  return isName(text) && !isList(text) && next !== '(' && !(aggregation.test(text) && isList(next));
};

/** The metrics that a PromQL expression selects. */
export const metricsOf = (expression: string): string[] => {
  const parts = partsOf(expression);
  return parts.filter((_text, index) => isMetric(parts, index));
};

/**
 * An expression for a rule: every aggregation and match keeps the environment, so that installations that share a
 * Prometheus are never added up, and each alert names its own. Other exporters' metrics count only in a namespace
 * in which our apps run.
 */
export function perEnvironment(expression: string): string {
  const parts = partsOf(expression);
  const text = parts
    .map((each, index) => {
      const next = following(parts, index);
      if (aggregation.test(each) && next === '(') return `${each} by (${listed}) `;
      const [, word, labels] = /^(by|on)\s*\(([^)]*)\)$/.exec(each) ?? [];
      if (word !== undefined) return `${word} (${[listed, labels?.trim()].filter(Boolean).join(', ')})`;
      if (each.startsWith('without')) throw new Error(`use by instead of without: ${expression}`);
      return each;
    })
    .join('');
  if (metricsOf(expression).every((name) => ours.test(name))) return text;
  return `(${text}) and on (${listed}) count by (${listed}) (router_build_info)`;
}

/** An expression for a panel: every selector names the environment that the dashboard shows. */
export function ofChosenEnvironment(expression: string): string {
  const matchers = environment.map((label) => `${label}="$${label}"`).join(',');
  const parts = partsOf(expression);
  return parts
    .map((each, index) => {
      if (!isMetric(parts, index)) {
        const before = parts[index - 1];
        const follows = each.startsWith('{') && before !== undefined && isMetric(parts, index - 1);
        return follows ? `{${[matchers, each.slice(1, -1).trim()].filter(Boolean).join(',')}}` : each;
      }
      if (!ours.test(each)) throw new Error(`a panel may only show our own metrics, not ${each}`);
      return parts[index + 1]?.startsWith('{') ? each : `${each}{${matchers}}`;
    })
    .join('');
}
