import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import {
  AudioLines,
  Box,
  CircleSlash,
  CircleX,
  Clapperboard,
  FileText,
  Image,
  LoaderCircle,
} from 'lucide-react';
import { useState } from 'react';
import type { components } from '../api/openapi.d.ts';
import { modelDocumentQuery } from '../api/model-document.ts';
import { type previewQuery, runPreviewQuery } from '../api/run-result.ts';
import { resultFindings } from './result-findings.ts';
import classes from './run-thumb.module.css';

type Run = components['schemas']['RouterRequest'];
type State = Pick<Run, 'status' | 'outcome' | 'result_available'>;

const succeeded: State = { status: 'COMPLETED', outcome: 'succeeded', result_available: true };

const icons = { image: Image, video: Clapperboard, audio: AudioLines, '3d': Box, text: FileText } as const;

interface RunThumbProps {
  run: Run;
  /** The model's declared output modalities. */
  modalities: readonly string[];
}

/** A run's first result as a small picture, or a mark for its kind or state. */
export function RunThumb({ run, modalities }: RunThumbProps) {
  return (
    <ResultThumb
      query={runPreviewQuery(run.model, run.request_id)}
      model={run.model}
      modalities={modalities}
      state={run}
    />
  );
}

interface ResultThumbProps {
  query: ReturnType<typeof previewQuery>;
  model: string;
  modalities: readonly string[];
  /** The state of the run, unless it is known to have succeeded. */
  state?: State;
}

/** The first of a result as a small picture, or a mark. Reads the result once it is visible. */
export function ResultThumb({ query, model, modalities, state = succeeded }: ResultThumbProps) {
  const { ref, inViewport } = useInViewport<HTMLSpanElement>();
  const { data } = useQuery({
    ...query,
    enabled: inViewport && state.outcome === 'succeeded' && state.result_available,
  });
  const [isBroken, setBroken] = useState(false);
  const { data: document } = useQuery({ ...modelDocumentQuery(model), enabled: data?.kind === 'events' });
  const found = data ? resultFindings(data, modalities, document?.stream?.text) : undefined;
  const medium = found?.media[0];
  const onError = () => setBroken(true);
  return (
    <span ref={ref} className={classes.thumb} aria-hidden>
      {medium?.kind === 'image' && !isBroken ? (
        <img src={medium.url} alt="" loading="lazy" onError={onError} />
      ) : medium?.kind === 'video' && !isBroken ? (
        <video src={medium.url} muted preload="metadata" onError={onError} />
      ) : found?.texts[0] !== undefined && medium === undefined ? (
        <span className={classes.words}>{found.texts[0].slice(0, 60)}</span>
      ) : (
        <Mark state={state} kind={medium?.kind ?? modalities.find((each) => each in icons)} />
      )}
    </span>
  );
}

function Mark({ state: { status, outcome }, kind }: { state: State; kind: string | undefined }) {
  if (status !== 'COMPLETED') return <LoaderCircle size={16} />;
  if (outcome === 'cancelled') return <CircleSlash size={16} />;
  if (outcome === 'failed') return <CircleX size={16} className={classes.failed} />;
  const Icon = icons[(kind ?? 'text') as keyof typeof icons];
  return <Icon size={16} />;
}
