import { useCallback, useState } from 'react';

/** React takes longer than a key press may to render thousands of cards. */
const atOnce = 120;

/**
 * The first cards of a list, and a ref for the element after them: while it is near the viewport, more are rendered.
 * Another `selection` starts again.
 */
export function useRendered<Each>(list: readonly Each[], selection: string) {
  const [state, setState] = useState({ selection, count: atOnce });
  const count = state.selection === selection ? state.count : atOnce;
  const end = useCallback(
    (element: Element | null) => {
      if (element === null) return undefined;
      const observer = new IntersectionObserver(
        ([entry]) => {
          if (entry?.isIntersecting) setState({ selection, count: count + atOnce });
        },
        { rootMargin: '2000px' },
      );
      observer.observe(element);
      return () => observer.disconnect();
    },
    [selection, count],
  );
  return { rendered: list.slice(0, count), end };
}
