import { ActionIcon, Switch } from '@mantine/core';
import { StepBack, StepForward } from 'lucide-react';
import { useRef, useState } from 'react';
import { texts } from '../texts/index.ts';
import classes from './lightbox.module.css';

/** Browsers don't tell the frame rate. Most models make 24 to 30 frames a second, so a step never skips one. */
const frameSeconds = 1 / 30;

/** A video that loops if wanted, and that steps by a frame. */
export function VideoView({ url, onError }: { url: string; onError: () => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const [isLoop, setLoop] = useState(true);
  const stepBy = (frames: number) => {
    const element = video.current;
    if (element === null || !Number.isFinite(element.duration)) return;
    element.pause();
    const at = element.currentTime + frames * frameSeconds;
    element.currentTime = Math.min(element.duration, Math.max(0, at));
  };
  return (
    <>
      <video
        ref={video}
        className={classes.video}
        src={url}
        aria-label={texts.output.video}
        controls
        loop={isLoop}
        onError={onError}
      />
      <div className={classes.floating}>
        <ActionIcon variant="default" aria-label={texts.lightbox.frameBack} onClick={() => stepBy(-1)}>
          <StepBack size={16} aria-hidden />
        </ActionIcon>
        <ActionIcon variant="default" aria-label={texts.lightbox.frameOn} onClick={() => stepBy(1)}>
          <StepForward size={16} aria-hidden />
        </ActionIcon>
        <Switch
          size="xs"
          label={texts.lightbox.loop}
          checked={isLoop}
          onChange={({ currentTarget: { checked } }) => setLoop(checked)}
        />
      </div>
    </>
  );
}
