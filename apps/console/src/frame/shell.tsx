import { CloseButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useSignInLink } from '../api/one-time-link.ts';
import { session, useCredential, useNotice } from '../api/session.ts';
import { workspaceQuery } from '../api/workspace.ts';
import { texts } from '../texts/index.ts';
import { Footer } from './footer.tsx';
import { LinkSignIn } from './link-sign-in.tsx';
import { Palette } from './palette.tsx';
import { PublicFrame } from './public-frame.tsx';
import { Rail } from './rail.tsx';
import classes from './shell.module.css';
import { SignIn } from './sign-in.tsx';
import { TopBar } from './top-bar.tsx';

/** Pages that need no credential. */
const publicRoutes: readonly string[] = ['/guide/$', '/reference', '/shared/$token'];

/** The frame around every page, or a sign-in page if there is a sign-in link, or no credential that the page needs. */
export function Shell() {
  const link = useSignInLink();
  const credential = useCredential();
  const isPublic = useRouterState({
    select: ({ matches }) => publicRoutes.includes(matches.at(-1)?.routeId ?? ''),
  });
  if (link !== null) return <LinkSignIn hasSession={credential !== null} />;
  if (credential !== null) return <Frame />;
  return isPublic ? <PublicFrame /> : <SignIn />;
}

function Frame() {
  const main = useRef<HTMLElement>(null);
  // Set if a failed sign-in link was opened in a tab that already has a session.
  const notice = useNotice();
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const scopes = useQuery(workspaceQuery).data?.credential.scopes;

  // Focusing the page makes screen readers announce it. The browser does that itself for the first page.
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current !== undefined && shown.current !== path) main.current?.focus({ preventScroll: true });
    shown.current = path;
  }, [path]);

  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#content">
        {texts.frame.skip}
      </a>
      <Rail scopes={scopes} />
      <div className={classes.column}>
        <TopBar />
        <main id="content" ref={main} tabIndex={-1} className={classes.content}>
          {notice !== null && (
            <p className={classes.notice} role="alert">
              {texts.signIn.notices[notice]} {texts.signIn.goesOn}
              <CloseButton aria-label={texts.parts.close} onClick={() => session.notify(null)} />
            </p>
          )}
          <Outlet />
        </main>
        <Footer />
      </div>
      <Palette scopes={scopes} />
    </div>
  );
}
