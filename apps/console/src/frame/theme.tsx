import { createTheme, MantineProvider } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts } from '../texts/index.ts';

/** Colours and type are in styles/theme.css because the content security policy forbids <style> elements. */
const theme = createTheme({
  respectReducedMotion: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  components: {
    Button: { defaultProps: { size: 'sm' } },
    // Scroll locking would need a <style> element.
    Modal: {
      defaultProps: {
        lockScroll: false,
        transitionProps: { duration: 120 },
        closeButtonProps: { 'aria-label': texts.parts.close },
      },
    },
    Tooltip: { defaultProps: { openDelay: 300, transitionProps: { duration: 100 } } },
    Table: { defaultProps: { verticalSpacing: 8, horizontalSpacing: 12, fz: 13 } },
  },
});

export function Theme({ children }: { children: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {children}
    </MantineProvider>
  );
}
