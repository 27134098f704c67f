import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { signInLink } from '../api/one-time-link.ts';
import { useNotice } from '../api/session.ts';
import { texts } from '../texts/index.ts';
import classes from './sign-in.module.css';

/** The page that a sign-in link opens. The link is used when the person presses the button, or if this tab asked for it. */
export function LinkSignIn({ hasSession }: { hasSession: boolean }) {
  const notice = useNotice();
  const [isBusy, setBusy] = useState(false);
  const queries = useQueryClient();

  const use = async () => {
    setBusy(true);
    queries.clear();
    await signInLink.use();
    setBusy(false);
  };
  const isStarted = useRef(false);
  useEffect(() => {
    if (isStarted.current || !signInLink.isExpected()) return;
    isStarted.current = true;
    void use();
  });
  return (
    <main className={classes.page}>
      <div className={classes.form}>
        <img src="/console/mark.svg" alt="" width={40} height={40} />
        <h1>{texts.signIn.linkTitle}</h1>
        {notice === 'unreadLink' && (
          <p className={classes.notice} role="alert">
            {texts.signIn.notices.unreadLink}
          </p>
        )}
        <p className="dimmed">{hasSession ? texts.signIn.linkReplaces : texts.signIn.linkLead}</p>
        <Button fullWidth loading={isBusy} onClick={() => void use()} data-autofocus>
          {texts.signIn.action}
        </Button>
        <Button variant="default" fullWidth disabled={isBusy} onClick={() => signInLink.dismiss()}>
          {hasSession ? texts.signIn.keepSession : texts.signIn.keyInstead}
        </Button>
      </div>
    </main>
  );
}
