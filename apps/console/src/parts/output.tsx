import { Button, SegmentedControl, Skeleton, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Download, ExternalLink, ImageOff, Maximize2 } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useCallback, useMemo, useState } from 'react';
import { runPromptQuery } from '../api/run.ts';
import type { RunResult } from '../api/run-result.ts';
import type { TextPlaces } from '../api/streamed-text.ts';
import { texts } from '../texts/index.ts';
import { CopyText } from './copy-text.tsx';
import { fileNameOf } from './file-name.ts';
import type { Medium } from './media.ts';
import { resultFindings } from './result-findings.ts';
import { saveUrl } from './save-file.ts';
import { StreamedOutput } from './streamed-output.tsx';
import classes from './output.module.css';

const Lightbox = lazy(async () => ({ default: (await import('./lightbox.tsx')).Lightbox }));
const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }));
/** Loads about 1 MB of 3D code, which most visits never need. */
const SolidView = lazy(async () => ({ default: (await import('./solid-view.tsx')).SolidView }));

interface OutputProps {
  result: RunResult;
  /** The model's declared output modalities. */
  modalities: readonly string[];
  /** The places of the text in the model's events, if it streams. */
  places?: TextPlaces | undefined;
  /** The model and the run, for the names of its files. */
  origin?: { model: string; run: string } | undefined;
  /** More buttons for a file. */
  renderActions?: (medium: Medium) => ReactNode;
}

/**
 * Shows a run's output: media in full size, text as text, and the raw JSON collapsed below. None of it is inserted into
 * the page as markup: every image, SVG included, is an `img`, and markup is shown as text.
 */
export function Output({ result, modalities, places, origin, renderActions }: OutputProps) {
  const { media: found, texts: said } = useMemo(
    () => resultFindings(result, modalities, places),
    [result, modalities, places],
  );
  const { data: prompt } = useQuery({
    ...runPromptQuery(origin?.run ?? ''),
    enabled: origin !== undefined && found.length > 0,
  });
  const media = found.map((medium, place) =>
    origin === undefined
      ? medium
      : { ...medium, name: fileNameOf({ ...origin, prompt }, medium, found.length > 1 ? place : undefined) },
  );
  const [enlarged, setEnlarged] = useState<number>();
  const large = enlarged === undefined ? undefined : media[enlarged];
  const to = (place: number) => (media[place] === undefined ? undefined : () => setEnlarged(place));
  if (result.kind === 'events') {
    return <StreamedOutput text={said[0] ?? ''} isOpen={false} events={result.text} />;
  }
  return (
    <div className={classes.output}>
      {media.map((medium, place) => (
        <MediumView
          key={medium.url}
          medium={medium}
          actions={renderActions?.(medium)}
          enlarge={() => setEnlarged(place)}
        />
      ))}
      {enlarged !== undefined && large !== undefined && (
        <Suspense fallback={null}>
          <Lightbox
            title={large.name}
            medium={large}
            close={() => setEnlarged(undefined)}
            previous={to(enlarged - 1)}
            next={to(enlarged + 1)}
          />
        </Suspense>
      )}
      {said.map((text, place) => (
        <Said key={place} text={text} />
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

/** Text as Markdown if it looks like that, and plain on demand. */
function Said({ text }: { text: string }) {
  const isMarked = /^(#{1,6} |[-*] |\d+\. |```|> |\|)|\*\*|\[.+\]\(|`[^`]+`/m.test(text);
  const [view, setView] = useState('rendered');
  return (
    <div>
      {isMarked && (
        <SegmentedControl
          size="xs"
          mb={8}
          aria-label={texts.output.textView}
          data={[
            { value: 'rendered', label: texts.output.textViews.rendered },
            { value: 'plain', label: texts.output.textViews.plain },
          ]}
          value={view}
          onChange={setView}
        />
      )}
      <div className={classes.said}>
        <CopyText text={text} />
        {isMarked && view === 'rendered' ? (
          <Suspense fallback={<p className={classes.text}>{text}</p>}>
            <Markdown text={text} />
          </Suspense>
        ) : (
          <p className={classes.text}>{text}</p>
        )}
      </div>
    </div>
  );
}

interface MediumViewProps {
  medium: Medium;
  actions: ReactNode;
  enlarge: () => void;
}

function MediumView({ medium, actions, enlarge }: MediumViewProps) {
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
        <Player medium={medium} onError={setBroken} enlarge={enlarge} />
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
        {!isBroken && (
          <Button
            variant="subtle"
            color="gray"
            size="xs"
            leftSection={<Maximize2 size={14} aria-hidden />}
            onClick={enlarge}
          >
            {texts.lightbox.enlarge}
          </Button>
        )}
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

interface PlayerProps {
  medium: Medium;
  onError: () => void;
  enlarge: () => void;
}

function Player({ medium: { kind, url }, onError, enlarge }: PlayerProps) {
  switch (kind) {
    case 'image':
      // The button below does the same by keyboard.
      return (
        <UnstyledButton className={classes.zoomable} tabIndex={-1} onClick={enlarge}>
          <img className={classes.large} src={url} alt={texts.output.image} onError={onError} />
        </UnstyledButton>
      );
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
