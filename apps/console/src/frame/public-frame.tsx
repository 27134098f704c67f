import { Button } from '@mantine/core';
import { Link, Outlet } from '@tanstack/react-router';
import { texts } from '../texts/index.ts';
import { Footer } from './footer.tsx';
import shell from './shell.module.css';
import { ThemeMenu } from './theme-menu.tsx';
import bar from './top-bar.module.css';

/** The frame around pages that need no credential, for people without one. */
export function PublicFrame() {
  return (
    <div className={shell.column}>
      <header className={bar.bar}>
        <Link to="/" className={bar.product}>
          <img src="/console/mark.svg" alt="" width={24} height={24} />
          {texts.product}
        </Link>
        <nav className={bar.pages} aria-label={texts.frame.primary}>
          <Link to="/guide/$" params={{ _splat: '' }}>
            {texts.frame.guide}
          </Link>
          <Link to="/reference">{texts.frame.reference}</Link>
        </nav>
        <Button component={Link} to="/" size="xs" variant="default">
          {texts.signIn.action}
        </Button>
        <ThemeMenu />
      </header>
      <main id="content" className={shell.content}>
        <Outlet />
      </main>
      <Footer />
    </div>
  );
}
