import { Button } from '@mantine/core';
import { useState } from 'react';
import { texts } from '../../texts/index.ts';
import { CostLine } from '../model/cost-line.tsx';
import { JsonInput } from '../model/json-input.tsx';
import classes from './compare.module.css';
import type { Plan } from './use-plans.ts';

interface PlanViewProps {
  plan: Plan;
  /** The first model gets the form as it is. */
  isFirst: boolean;
  /** Whether the run below was sent this, so that the price is known. */
  isSent: boolean;
  /** Sets an input of its own; null follows the form again. */
  change: (text: string | null) => void;
}

/** Shows what one model would be sent, what it doesn't take, and the price. */
export function PlanView({ plan, isFirst, isSent, change }: PlanViewProps) {
  const { text, unsent, isOwn, estimate, fields, error } = plan;
  const [isOpen, setOpen] = useState(false);
  if (isFirst && isSent) return null;
  return (
    <div className={classes.plan}>
      {!isSent && <CostLine estimate={estimate} isRefused={fields.length > 0 || error !== undefined} />}
      {unsent.length > 0 && !isOwn && (
        <p className={classes.unsent}>{texts.compare.unsent(unsent.join(', '))}</p>
      )}
      {fields.length > 0 && (
        <ul className={classes.problems}>
          {fields.map(({ loc, msg }) => (
            <li key={loc.join('.')}>
              <code>{loc.slice(1).join('.')}</code> {msg}
            </li>
          ))}
        </ul>
      )}
      {error !== undefined && <p className={classes.unready}>{error.message}</p>}
      {!isFirst && (
        <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{texts.compare.sent}</summary>
          {isOpen && (
            <JsonInput text={text} onChange={change} syntax={undefined} problems={fields} unknown={[]} />
          )}
        </details>
      )}
      {isOwn && (
        <p className={classes.unsent}>
          {texts.compare.own}{' '}
          <Button variant="subtle" size="compact-xs" onClick={() => change(null)}>
            {texts.compare.restore}
          </Button>
        </p>
      )}
    </div>
  );
}
