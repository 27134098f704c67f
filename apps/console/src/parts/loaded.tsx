import { Button } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { texts } from '../texts/index.ts';
import { Failure } from './failure.tsx';
import { TableSkeleton } from './skeletons.tsx';

interface LoadedProps<Data> {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>;
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** Shows a query's data, a skeleton while it loads, or the failure with a retry button. */
export function Loaded<Data>({
  query: { data, error, refetch },
  skeleton = <TableSkeleton />,
  children,
}: LoadedProps<Data>) {
  if (data !== undefined) return children(data);
  return error ? <Failure error={error} retry={() => void refetch()} /> : skeleton;
}

interface LoadedListProps<Entry> {
  query: UseInfiniteQueryResult<InfiniteData<{ data: Entry[] }>>;
  skeleton?: ReactNode;
  /** Shown if the list has no entries. */
  empty: ReactNode;
  children: (entries: Entry[]) => ReactNode;
}

/** The entries of all loaded pages, and a button for the next page. */
export function LoadedList<Entry>({ query, skeleton, empty, children }: LoadedListProps<Entry>) {
  return (
    <Loaded query={query} skeleton={skeleton}>
      {({ pages }) => {
        const entries = pages.flatMap((page) => page.data);
        if (entries.length === 0) return empty;
        return (
          <>
            {children(entries)}
            {query.hasNextPage && (
              <Button
                variant="default"
                mt={16}
                loading={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                {texts.parts.more}
              </Button>
            )}
          </>
        );
      }}
    </Loaded>
  );
}
