import { useQuery } from '@tanstack/react-query';
import { type MouseEvent, useEffect, useRef } from 'react';
import { blobOf } from '../api/files.ts';
import { texts } from '../texts/index.ts';
import classes from './lightbox.module.css';

const bars = 200;
/** Decoded audio takes about ten times as much memory. */
const maxBytes = 50_000_000;

/** An audio player with the file's waveform, which is also its timeline. */
export function AudioView({ url, onError }: { url: string; onError: () => void }) {
  const audio = useRef<HTMLAudioElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { data: peaks, isError } = useQuery({
    queryKey: ['waveform', url],
    queryFn: ({ signal }) => peaksOf(url, signal),
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
  });
  useEffect(() => {
    if (peaks === undefined || canvas.current === null || audio.current === null) return undefined;
    const [shown, player] = [canvas.current, audio.current];
    const redraw = () => draw(shown, peaks, player.currentTime / (player.duration || 1));
    const sizes = new ResizeObserver(redraw);
    sizes.observe(shown);
    player.addEventListener('timeupdate', redraw);
    return () => {
      sizes.disconnect();
      player.removeEventListener('timeupdate', redraw);
    };
  }, [peaks]);
  const seek = ({ currentTarget, clientX }: MouseEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const player = audio.current;
    if (player !== null && Number.isFinite(player.duration))
      player.currentTime = ((clientX - left) / width) * player.duration;
  };
  return (
    <div className={classes.sound}>
      {isError ? (
        <p className="dimmed">{texts.lightbox.noWaveform}</p>
      ) : (
        <canvas
          ref={canvas}
          className={classes.waveform}
          role="img"
          aria-label={texts.lightbox.waveform}
          data-shown={peaks !== undefined || undefined}
          onClick={seek}
        />
      )}
      {/* The keyboard moves along the file by the player's own timeline. */}
      <audio ref={audio} src={url} aria-label={texts.output.audio} controls onError={onError} />
    </div>
  );
}

/** The loudest sample of each bar, from 0 to 1. */
async function peaksOf(url: string, signal: AbortSignal): Promise<number[]> {
  const blob = await blobOf(url, signal);
  if (blob.size > maxBytes) throw new Error('the file is too large');
  const context = new OfflineAudioContext(1, 1, 44_100);
  const samples = (await context.decodeAudioData(await blob.arrayBuffer())).getChannelData(0);
  const width = Math.max(1, Math.floor(samples.length / bars));
  return Array.from({ length: bars }, (_, bar) => {
    let peak = 0;
    for (const sample of samples.subarray(bar * width, (bar + 1) * width))
      peak = Math.max(peak, Math.abs(sample));
    return peak;
  });
}

function draw(canvas: HTMLCanvasElement, peaks: readonly number[], played: number): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
  context.scale(devicePixelRatio, devicePixelRatio);
  const style = getComputedStyle(canvas);
  const loudest = Math.max(...peaks, 0.01);
  for (const [at, peak] of peaks.entries()) {
    const size = Math.max(2, (peak / loudest) * height);
    context.fillStyle = at / peaks.length < played ? style.accentColor : style.color;
    context.fillRect(
      (at / peaks.length) * width,
      (height - size) / 2,
      Math.max(1, width / peaks.length - 1),
      size,
    );
  }
}
