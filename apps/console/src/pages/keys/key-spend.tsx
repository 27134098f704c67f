import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Budget, budgetsQuery } from '../../api/budgets.ts';
import { type ApiKey, keySpendQuery } from '../../api/keys.ts';
import { useScope } from '../../api/workspace.ts';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';
import classes from './keys-page.module.css';

/** Shows the cost of a key's runs of 30 days, and the budgets that limit it. */
export function KeySpend({ apiKey }: { apiKey: ApiKey }) {
  const { id, name, kind, state, first_id } = apiKey;
  const mayRead = useScope('usage') ?? false;
  const spend = useQuery({ ...keySpendQuery, enabled: mayRead }).data;
  const budgets = useQuery(budgetsQuery).data?.data ?? [];
  const limits = budgets.filter(
    ({ scope, value }) => scope === 'key' && (value === undefined || value === (first_id ?? id)),
  );
  return (
    <div className={classes.spend}>
      {spend && (
        <span>
          {dollarsOfCents(spend.get(id) ?? 0)}
          <span className="narrow-only"> {texts.keys.inDays}</span>
        </span>
      )}
      {limits.map((budget) => (
        <Link key={budget.name} to="/budgets" className={classes.link}>
          {limitText(budget)}
        </Link>
      ))}
      {limits.length === 0 && kind === 'key' && state === 'live' && (
        <Link
          to="/budgets"
          search={{ key: first_id ?? id }}
          className={classes.link}
          aria-label={texts.keys.limitOf(name)}
        >
          {texts.keys.limit}
        </Link>
      )}
    </div>
  );
}

const limitText = ({ kind, window, current }: Budget) =>
  texts.keys.limits[kind](dollarsOfCents(current.limit_cents), texts.keys.windows[window]);
