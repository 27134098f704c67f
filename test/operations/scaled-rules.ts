import { parse, stringify } from 'yaml';
import { committedRules } from '../harness/prometheus.js';

interface Rule {
  expr: string;
  for?: string;
}
interface Rules {
  groups: { interval?: string; rules: Rule[] }[];
}

const secondsOf = { s: 1, m: 60, h: 3600 } as const;
const shortened = (duration: string, scale: number): string => {
  const [, count = '0', unit = 's'] = /^(\d+)([smh])$/.exec(duration) ?? [];
  return `${Math.round(1000 * scale * Number(count) * secondsOf[unit as keyof typeof secondsOf])}ms`;
};

/**
 * The committed rules with shorter windows and waits, for tests that cannot last as long. Thresholds in seconds, and
 * the day for which a vanished process is remembered, stay as they are.
 */
export function scaledRules(scale: number): string {
  const { groups } = parse(committedRules()) as Rules;
  for (const group of groups) {
    if (group.interval !== undefined) group.interval = shortened(group.interval, scale);
    for (const rule of group.rules) {
      rule.expr = rule.expr.replaceAll(
        /\[(\d+[smh])\]/g,
        (_all, window: string) => `[${shortened(window, scale)}]`,
      );
      if (rule.for !== undefined && rule.for !== '0m') rule.for = shortened(rule.for, scale);
    }
  }
  return stringify({ groups });
}
