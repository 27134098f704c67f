import { Skeleton } from '@mantine/core';
import { texts } from '../texts/index.ts';
import classes from './parts.module.css';

/** Shown while a page's code or first data loads. Has about the page's size, so that nothing jumps. */
export function PageSkeleton() {
  return (
    <div aria-busy="true" aria-label={texts.parts.loading}>
      <Skeleton height={28} width={160} mb={24} />
      <TableSkeleton />
    </div>
  );
}

export function TableSkeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div className={classes.skeletonRows} aria-hidden>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={20} />
      ))}
    </div>
  );
}
