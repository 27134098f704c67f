import { type RefObject, useLayoutEffect, useState } from 'react';

interface Rows {
  first: number;
  /** Exclusive. */
  end: number;
}

const spare = 12;

/** The range of equally high rows that is in the window, with a margin on either side. */
export function useWindowRows(body: RefObject<HTMLElement | null>, count: number, rowHeight: number): Rows {
  const [range, setRange] = useState<Rows>({ first: 0, end: Math.ceil(1_200 / rowHeight) });
  useLayoutEffect(() => {
    const look = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - spare);
      const end = Math.ceil((innerHeight - top) / rowHeight) + spare;
      setRange((range) => (range.first === first && range.end === end ? range : { first, end }));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [body, rowHeight]);
  return { first: Math.min(range.first, count), end: Math.min(range.end, count) };
}
