import type { ReactNode } from 'react';
import { useEffect } from 'react';
import { texts } from '../texts/index.ts';
import classes from './parts.module.css';

/** The page's heading, with its actions on the right. Also sets the tab's title. */
export function PageTitle({
  title,
  detail,
  children,
}: {
  title: string;
  detail?: ReactNode;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  return (
    <div className={classes.title}>
      <div>
        <h1>{title}</h1>
        {detail !== undefined && <div className="dimmed">{detail}</div>}
      </div>
      {children !== undefined && <div className={classes.actions}>{children}</div>}
    </div>
  );
}
