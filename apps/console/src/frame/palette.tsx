import { lazy, Suspense, useEffect } from 'react';
import { palette, usePaletteIsOpen } from './palette-state.ts';

const Commands = lazy(async () => ({ default: (await import('./commands.tsx')).Commands }));

/** Opens with ⌘K or Ctrl+K from anywhere. Its code loads when it is first opened. */
export function Palette({ scopes }: { scopes: readonly string[] | undefined }) {
  const isOpen = usePaletteIsOpen();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      palette.open();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return <Suspense>{isOpen && <Commands scopes={scopes} close={palette.close} />}</Suspense>;
}
