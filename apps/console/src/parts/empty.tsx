import type { ReactNode } from 'react';
import classes from './parts.module.css';

/** Replaces an empty list: says what belongs here, and shows the command or link that fills it. */
export function Empty({ title, detail, children }: { title: string; detail: string; children?: ReactNode }) {
  return (
    <section className={classes.empty}>
      <h2>{title}</h2>
      <p className="dimmed">{detail}</p>
      {children}
    </section>
  );
}
