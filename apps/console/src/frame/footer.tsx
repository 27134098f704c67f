import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../api/client.ts';
import { texts } from '../texts/index.ts';
import classes from './shell.module.css';

const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => bodyOf(api.GET('/health', { signal })),
  staleTime: 300_000,
  refetchInterval: 300_000,
});

/** The release that serves the console. Empty until it is known. */
export function Footer() {
  const { data } = useQuery(healthQuery);
  return (
    <footer className={classes.footer}>
      {data !== undefined && texts.frame.release(data.version, data.revision, data.built_at)}
    </footer>
  );
}
