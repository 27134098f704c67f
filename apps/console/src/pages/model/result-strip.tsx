import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import classes from './model.module.css';

/** A row of small results below the large one. */
export function ResultStrip({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className={classes.stripTitle}>{title}</h3>
      <ul className={classes.strip}>{children}</ul>
    </section>
  );
}

interface StripItemProps {
  /** The ID of the model. */
  id: string;
  /** The page shows this after a click, with its input in the form. */
  opens: { run: string } | { sample: string };
  isShown: boolean;
  label: string;
  /** A small picture of the result. */
  children: ReactNode;
}

export function StripItem({ id, opens, isShown, label, children }: StripItemProps) {
  const [provider = '', model = ''] = id.split('/');
  return (
    <li>
      <Link
        to="/models/$provider/$model"
        params={{ provider, model }}
        search={(now) => ({ ...now, run: undefined, sample: undefined, from: undefined, ...opens })}
        replace
        resetScroll={false}
        className={classes.stripItem}
        aria-current={isShown}
        aria-label={label}
      >
        {children}
      </Link>
    </li>
  );
}
