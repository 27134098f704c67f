import { Button, Skeleton } from '@mantine/core';
import { Download, ExternalLink, ImageOff } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useCallback, useMemo, useState } from 'react';
import type { RunResult } from '../api/run-result.ts';
import type { TextPlaces } from '../api/streamed-text.ts';
import { texts } from '../texts/index.ts';
import { CopyText } from './copy-text.tsx';
import type { Medium } from './media.ts';
import { resultFindings } from './result-findings.ts';
import { saveUrl } from './save-file.ts';
import { StreamedOutput } from './streamed-output.tsx';
import classes from './output.module.css';

/** Loads about 1 MB of 3D code, which most visits never need. */
const SolidView = lazy(async () => ({ default: (await import('./solid-view.tsx')).SolidView }));

interface OutputProps {
  result: RunResult;
  /** The model's declared output modalities. */
  modalities: readonly string[];
  /** The places of the text in the model's events, if it streams. */
  places?: TextPlaces | undefined;
  /** More buttons for a file. */
  renderActions?: (medium: Medium) => ReactNode;
}

/**
 * Shows a run's output: media in full size, text as text, and the raw JSON collapsed below. None of it is inserted into
 * the page as markup: every image, SVG included, is an `img`, and markup is shown as plain text.
 */
export function Output({ result, modalities, places, renderActions }: OutputProps) {
  const { media, texts: said } = useMemo(
    () => resultFindings(result, modalities, places),
    [result, modalities, places],
  );
  if (result.kind === 'events') {
    return <StreamedOutput text={said[0] ?? ''} isOpen={false} events={result.text} />;
  }
  return (
    <div className={classes.output}>
      {media.map((medium) => (
        <MediumView key={medium.url} medium={medium} actions={renderActions?.(medium)} />
      ))}
      {said.map((text, place) => (
        <div key={place} className={classes.said}>
          <CopyText text={text} />
          <p className={classes.text}>{text}</p>
        </div>
      ))}
      {result.kind === 'bytes' && media.length === 0 && (
        <p className="dimmed">{texts.output.bytes(result.contentType)}</p>
      )}
      {result.kind === 'json' && (
        <details open={media.length + said.length === 0 || undefined}>
          <summary className={classes.summary}>{texts.output.raw}</summary>
          <div className={classes.raw}>
            <CopyText text={result.text} />
            <pre tabIndex={0}>{JSON.stringify(result.value, null, 2)}</pre>
          </div>
        </details>
      )}
    </div>
  );
}

function MediumView({ medium, actions }: { medium: Medium; actions: ReactNode }) {
  const { url, name } = medium;
  const [isBroken, setIsBroken] = useState(false);
  const setBroken = useCallback(() => setIsBroken(true), []);
  const isLink = /^https?:/.test(url);
  return (
    <figure className={classes.medium}>
      {isBroken ? (
        <div className={classes.placeholder}>
          <ImageOff size={32} aria-hidden />
          <p>{texts.output.broken}</p>
        </div>
      ) : (
        <Player medium={medium} onError={setBroken} />
      )}
      <figcaption className={classes.actions}>
        <Button
          variant="default"
          size="xs"
          leftSection={<Download size={14} aria-hidden />}
          onClick={() => void saveUrl(medium)}
        >
          {texts.output.download}
        </Button>
        {isLink && (
          <Button
            component="a"
            href={url}
            target="_blank"
            rel="noreferrer noopener"
            variant="subtle"
            color="gray"
            size="xs"
            leftSection={<ExternalLink size={14} aria-hidden />}
          >
            {texts.output.open}
          </Button>
        )}
        {actions}
        {isLink && <CopyText text={url} label={texts.output.copyLink} />}
        <code className={classes.name}>{name}</code>
      </figcaption>
    </figure>
  );
}

function Player({ medium: { kind, url }, onError }: { medium: Medium; onError: () => void }) {
  switch (kind) {
    case 'image':
      return <img className={classes.large} src={url} alt={texts.output.image} onError={onError} />;
    case 'video':
      return (
        <video
          className={classes.large}
          src={url}
          aria-label={texts.output.video}
          controls
          loop
          onError={onError}
        />
      );
    case 'audio':
      return (
        <audio
          className={classes.audio}
          src={url}
          aria-label={texts.output.audio}
          controls
          onError={onError}
        />
      );
    case '3d':
      return (
        <Suspense fallback={<Skeleton className={classes.solid} />}>
          <SolidView url={url} onError={onError} />
        </Suspense>
      );
  }
}
