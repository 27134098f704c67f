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
import { runPreviewQuery } from '../api/run-result.ts';
import { resultFindings } from './result-findings.ts';
import classes from './run-thumb.module.css';

type Run = components['schemas']['RouterRequest'];

const icons = { image: Image, video: Clapperboard, audio: AudioLines, '3d': Box, text: FileText } as const;

interface RunThumbProps {
  run: Run;
  /** The model's declared output modalities. */
  modalities: readonly string[];
}

/** A run's first result as a small picture, or a mark for its kind or state. Reads the result once it is visible. */
export function RunThumb({ run, modalities }: RunThumbProps) {
  const { ref, inViewport } = useInViewport<HTMLSpanElement>();
  const { data } = useQuery({
    ...runPreviewQuery(run.model, run.request_id),
    enabled: inViewport && run.outcome === 'succeeded' && run.result_available,
  });
  const [isBroken, setBroken] = useState(false);
  const { data: document } = useQuery({
    ...modelDocumentQuery(run.model),
    enabled: data?.kind === 'events',
  });
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
        <Mark run={run} kind={medium?.kind ?? modalities.find((each) => each in icons)} />
      )}
    </span>
  );
}

function Mark({ run: { status, outcome }, kind }: { run: Run; kind: string | undefined }) {
  if (status !== 'COMPLETED') return <LoaderCircle size={16} />;
  if (outcome === 'cancelled') return <CircleSlash size={16} />;
  if (outcome === 'failed') return <CircleX size={16} className={classes.failed} />;
  const Icon = icons[(kind ?? 'text') as keyof typeof icons];
  return <Icon size={16} />;
}
