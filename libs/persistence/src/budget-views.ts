import {
  centsFromMicros,
  type RouterBudget,
  type RouterBudgetThreshold,
  type RouterBudgetValue,
} from '#schemas';
import type { BudgetState, BudgetUse } from './budget.repository.js';
import type { BudgetThreshold } from './run-facts.js';

type Scope = RouterBudget['scope'];

/** The value that callers know: the id of a key. */
const valueView = (value: string): string => value.replace(/^key:/, '');

const kindOf = (hard: boolean) => (hard ? 'hard' : 'soft');

const amounts = ({ spentMicros, reservedMicros }: Pick<BudgetUse, 'spentMicros' | 'reservedMicros'>) => ({
  spent_cents: centsFromMicros(spentMicros),
  reserved_cents: centsFromMicros(reservedMicros),
});

const counted = (scope: string, value: string | null) => ({
  scope: scope as Scope,
  ...(scope !== 'workspace' && value !== null && { value: valueView(value) }),
});

export const budgetView = (budget: BudgetState): RouterBudget => ({
  name: budget.name,
  ...counted(budget.scope, budget.value),
  ...(budget.scope === 'user' &&
    budget.value === null && { none: budget.countsNone ? ('counted' as const) : ('uncounted' as const) }),
  window: budget.period,
  time_zone: budget.timeZone,
  limit_cents: centsFromMicros(budget.limitMicros),
  kind: kindOf(budget.hard),
  ...(budget.webhookUrl !== null && { webhook_url: budget.webhookUrl }),
  raises: budget.raises.map(({ micros, from, until }) => ({
    amount_cents: centsFromMicros(micros),
    from,
    until,
  })),
  current: {
    ...(budget.startsAt && { starts_at: budget.startsAt.toISOString() }),
    ...(budget.endsAt && { resets_at: budget.endsAt.toISOString() }),
    limit_cents: centsFromMicros(budget.currentLimitMicros),
    ...(budget.spentMicros !== null &&
      budget.reservedMicros !== null &&
      amounts({ spentMicros: budget.spentMicros, reservedMicros: budget.reservedMicros })),
  },
});

export const budgetUseView = (use: BudgetUse): RouterBudgetValue => ({
  value: valueView(use.value),
  ...amounts(use),
});

/** The body of a `budget.threshold` event. */
export const thresholdView = (event: BudgetThreshold, at: Date): RouterBudgetThreshold => ({
  type: 'budget.threshold',
  timestamp: at.toISOString(),
  data: {
    budget: event.budget,
    threshold: event.threshold,
    ...counted(event.scope, event.value),
    window: event.window,
    kind: kindOf(event.hard),
    ...(event.startsAt !== null && { starts_at: new Date(event.startsAt).toISOString() }),
    ...(event.endsAt !== null && { resets_at: new Date(event.endsAt).toISOString() }),
    limit_cents: centsFromMicros(event.limitMicros),
    ...amounts(event),
  },
});
