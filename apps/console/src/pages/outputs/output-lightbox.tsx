import { Button, Loader } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Failure } from '../../parts/failure.tsx';
import { KeepRun } from '../../parts/keep-run.tsx';
import { Lightbox } from '../../parts/lightbox.tsx';
import { texts } from '../../texts/index.ts';
import { mediaOf } from './run-media.ts';
import type { OutputRun } from './use-outputs.ts';

interface OutputLightboxProps {
  run: OutputRun;
  modalities: readonly string[];
  close: () => void;
  /** Shows the run beside this one. */
  previous: (() => void) | undefined;
  next: (() => void) | undefined;
}

/** The files of one run, and before and after them those of its neighbours. */
export function OutputLightbox({ run, modalities, close, previous, next }: OutputLightboxProps) {
  const queries = useQueryClient();
  const [shown, setShown] = useState({ run: run.request_id, place: 0 });
  const place = shown.run === run.request_id ? shown.place : 0;
  const {
    data = [],
    error,
    isPending,
  } = useQuery({
    queryKey: ['run-media', run.request_id],
    queryFn: () => mediaOf(queries, run, modalities),
    retry: false,
  });
  const to = (at: number) => () => setShown({ run: run.request_id, place: at });
  return (
    <Lightbox
      title={data[place]?.name ?? run.model}
      medium={data[place]}
      close={close}
      previous={place > 0 ? to(place - 1) : previous}
      next={place < data.length - 1 ? to(place + 1) : next}
      fallback={
        isPending ? (
          <Loader aria-label={texts.parts.loading} />
        ) : error !== null ? (
          <Failure error={error} />
        ) : (
          <p className="dimmed">{texts.outputs.nothing}</p>
        )
      }
    >
      <KeepRun run={run} />
      <Button
        size="xs"
        variant="default"
        renderRoot={(props) => (
          <Link to="/runs/$requestId" params={{ requestId: run.request_id }} {...props} />
        )}
      >
        {texts.lightbox.openRun}
      </Button>
    </Lightbox>
  );
}
