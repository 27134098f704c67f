import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { NotFound } from '../../frame/not-found.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import classes from './guide.module.css';

const route = getRouteApi('/guide/$');

/** A page from docs/guide or docs/errors, converted to HTML when the console is built. */
export function GuidePage() {
  const page = route.useLoaderData();
  const { history, state } = useRouter();
  const { hash } = state.location;
  const article = useRef<HTMLElement>(null);

  useEffect(() => {
    if (page !== undefined && hash !== '') document.getElementById(hash)?.scrollIntoView();
  }, [hash, page]);

  useEffect(() => {
    const listening = new AbortController();
    /** Follows links within the console without reloading it. */
    const follow = (event: MouseEvent) => {
      const link = (event.target as Element).closest('a');
      if (link?.origin !== location.origin || !link.pathname.startsWith('/console/')) return;
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      history.push(`${link.pathname}${link.hash}`);
    };
    article.current?.addEventListener('click', follow, listening);
    return () => listening.abort();
  }, [history]);

  if (page === undefined) return <NotFound />;
  return (
    <>
      <PageTitle title={page.title} />
      <article ref={article} className={classes.prose} dangerouslySetInnerHTML={{ __html: page.html }} />
    </>
  );
}
