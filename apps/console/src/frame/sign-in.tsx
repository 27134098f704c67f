import { Button, PasswordInput } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, bodyOf } from '../api/client.ts';
import { signInLink } from '../api/one-time-link.ts';
import { Problem } from '../api/problem.ts';
import { session, useNotice } from '../api/session.ts';
import { texts } from '../texts/index.ts';
import classes from './sign-in.module.css';

const providerQuery = queryOptions({
  queryKey: ['identity-provider'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v2/sign-in/provider', { signal })),
  staleTime: Infinity,
});

/** Replaces every page until there is a credential. The address stays, so the requested page opens after sign-in. */
export function SignIn() {
  const notice = useNotice();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const queries = useQueryClient();
  const provider = useQuery(providerQuery).data?.name ?? null;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    queries.clear();
    try {
      await api.GET('/v2/workspace', { headers: { authorization: `Bearer ${text.trim()}` } });
      session.signIn(text.trim());
    } catch (error) {
      setProblem(reasonOf(error));
      setBusy(false);
    }
  };
  return (
    <main className={classes.page}>
      <form className={classes.form} onSubmit={(event) => void submit(event)}>
        <img src="/console/mark.svg" alt="" width={40} height={40} />
        <h1>{texts.signIn.title}</h1>
        {notice !== null && (
          <p className={classes.notice} role="alert">
            {texts.signIn.notices[notice]}
          </p>
        )}
        {provider !== null && (
          <Button fullWidth onClick={() => signInLink.askProvider()}>
            {texts.signIn.through(provider)}
          </Button>
        )}
        <p className="dimmed">{provider === null ? texts.signIn.lead : texts.signIn.orKey}</p>
        <PasswordInput
          label={texts.signIn.label}
          description={texts.signIn.kept}
          error={problem}
          autoComplete="off"
          spellCheck={false}
          autoFocus={provider === null}
          required
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" fullWidth variant={provider === null ? 'filled' : 'default'} loading={isBusy}>
          {texts.signIn.action}
        </Button>
        <p className="dimmed">{texts.signIn.noKey}</p>
        <pre className={classes.command}>{texts.signIn.command}</pre>
      </form>
    </main>
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 401) return texts.signIn.refused;
  if (error.bucket === 'forbidden') return texts.signIn.scope;
  return error.message;
}
