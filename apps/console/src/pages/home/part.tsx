import type { ReactNode } from 'react';
import classes from './home.module.css';

interface PartProps {
  /** The heading, usually a link to the page that has more. */
  title: ReactNode;
  isWide?: boolean;
  children: ReactNode;
}

/** A part of the page, which loads and fails on its own. */
export function Part({ title, isWide = false, children }: PartProps) {
  return (
    <section className={classes.part} data-wide={isWide || undefined}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** An entry of a short list: a name, what is said of it, and a number or time on the right. */
export function Entry({ name, detail, aside }: { name: ReactNode; detail?: ReactNode; aside?: ReactNode }) {
  return (
    <li className={classes.entry}>
      <span className={classes.name}>{name}</span>
      <span className={classes.aside}>{aside}</span>
      {detail !== undefined && <span className={classes.detail}>{detail}</span>}
    </li>
  );
}

export const maxEntries = 5;
