import { ActionIcon, Button, Modal, SegmentedControl } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { ChevronLeft, ChevronRight, Download } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { texts } from '../texts/index.ts';
import { AudioView } from './audio-view.tsx';
import { ImageView } from './image-view.tsx';
import classes from './lightbox.module.css';
import type { Medium } from './media.ts';
import { saveUrl } from './save-file.ts';
import { VideoView } from './video-view.tsx';

const SolidView = lazy(async () => ({ default: (await import('./solid-view.tsx')).SolidView }));

const backgrounds = ['checker', 'dark', 'light'] as const;
type Background = (typeof backgrounds)[number];

interface LightboxProps {
  title: string;
  medium: Medium | undefined;
  close: () => void;
  /** Shows another file. Absent if there is none on that side. */
  previous?: (() => void) | undefined;
  next?: (() => void) | undefined;
  /** Shown while there is no file. */
  fallback?: ReactNode;
  /** More buttons. */
  children?: ReactNode;
}

/** One file in the whole window. Page Up and Page Down show the files beside it. */
export function Lightbox({ title, medium, close, previous, next, fallback, children }: LightboxProps) {
  const [background, setBackground] = useState<Background>('checker');
  const hasBackground = medium?.kind === 'image' || medium?.kind === '3d';
  useHotkeys(
    [
      ['PageUp', () => previous?.()],
      ['PageDown', () => next?.()],
    ],
    [],
  );
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      fullScreen
      classNames={{ content: classes.content ?? '', body: classes.body ?? '', title: classes.title ?? '' }}
    >
      <div className={classes.stage} data-background={hasBackground ? background : undefined}>
        {medium === undefined ? fallback : <View key={medium.url} medium={medium} />}
      </div>
      <div className={classes.tools}>
        <ActionIcon
          variant="default"
          aria-label={texts.lightbox.previous}
          disabled={previous === undefined}
          onClick={previous}
        >
          <ChevronLeft size={16} aria-hidden />
        </ActionIcon>
        <ActionIcon
          variant="default"
          aria-label={texts.lightbox.next}
          disabled={next === undefined}
          onClick={next}
        >
          <ChevronRight size={16} aria-hidden />
        </ActionIcon>
        {hasBackground && (
          <SegmentedControl
            size="xs"
            aria-label={texts.lightbox.background}
            data={backgrounds.map((value) => ({ value, label: texts.lightbox.backgrounds[value] }))}
            value={background}
            onChange={(value) => setBackground(value)}
          />
        )}
        <span className={classes.rest}>
          {children}
          {medium !== undefined && (
            <Button
              size="xs"
              variant="default"
              leftSection={<Download size={14} aria-hidden />}
              onClick={() => void saveUrl(medium)}
            >
              {texts.output.download}
            </Button>
          )}
        </span>
      </div>
    </Modal>
  );
}

function View({ medium }: { medium: Medium }) {
  const [isBroken, setBroken] = useState(false);
  const onError = () => setBroken(true);
  if (isBroken) return <p className={classes.broken}>{texts.output.broken}</p>;
  switch (medium.kind) {
    case 'image':
      return <ImageView url={medium.url} onError={onError} />;
    case 'video':
      return <VideoView url={medium.url} onError={onError} />;
    case 'audio':
      return <AudioView url={medium.url} onError={onError} />;
    case '3d':
      return (
        <Suspense fallback={null}>
          <SolidView url={medium.url} onError={onError} />
        </Suspense>
      );
  }
}
