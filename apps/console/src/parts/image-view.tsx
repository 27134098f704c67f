import { ActionIcon, Button } from '@mantine/core';
import { Minus, Plus } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { texts } from '../texts/index.ts';
import classes from './lightbox.module.css';

/** The factor of the fitted size, and the shift of the centre in CSS pixels. */
interface Place {
  scale: number;
  x: number;
  y: number;
}

const fitted: Place = { scale: 1, x: 0, y: 0 };
const [minScale, maxScale] = [1, 16];
const step = 1.4;
const shift = 48;

const moves: Record<string, [x: number, y: number]> = {
  ArrowLeft: [shift, 0],
  ArrowRight: [-shift, 0],
  ArrowUp: [0, shift],
  ArrowDown: [0, -shift],
};

/** Keeps the point where it is, such as the one under the pointer. It is relative to the centre. */
function zoomed(now: Place, factor: number, at = { x: 0, y: 0 }): Place {
  const scale = Math.min(maxScale, Math.max(minScale, now.scale * factor));
  if (scale === minScale) return fitted;
  const grown = scale / now.scale;
  return { scale, x: at.x - (at.x - now.x) * grown, y: at.y - (at.y - now.y) * grown };
}

const moved = (now: Place, x: number, y: number): Place =>
  now.scale === minScale ? now : { ...now, x: now.x + x, y: now.y + y };

/** An image with zoom by wheel, keys or buttons, and with panning by pointer or arrow keys. */
export function ImageView({ url, onError }: { url: string; onError: () => void }) {
  const [place, setPlace] = useState(fitted);
  const frame = useRef<HTMLDivElement>(null);
  const zoom = (factor: number) => setPlace((now) => zoomed(now, factor));

  // React would need a role with an action, and listens to the wheel passively, which would scroll the page as well.
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    let drag: { x: number; y: number } | null = null;
    const listening = new AbortController();
    const on = <Name extends keyof HTMLElementEventMap>(
      name: Name,
      act: (event: HTMLElementEventMap[Name]) => void,
    ) => element.addEventListener(name, act, { passive: false, signal: listening.signal });
    on('wheel', (event) => {
      event.preventDefault();
      const { left, top, width, height } = element.getBoundingClientRect();
      const at = { x: event.clientX - left - width / 2, y: event.clientY - top - height / 2 };
      setPlace((now) => zoomed(now, Math.exp(-event.deltaY / 400), at));
    });
    on('keydown', (event) => {
      const by = moves[event.key];
      if (event.key === '+' || event.key === '=') setPlace((now) => zoomed(now, step));
      else if (event.key === '-') setPlace((now) => zoomed(now, 1 / step));
      else if (event.key === '0') setPlace(fitted);
      else if (by !== undefined) setPlace((now) => moved(now, ...by));
      else return;
      event.preventDefault();
    });
    on('pointerdown', (event) => {
      drag = { x: event.clientX, y: event.clientY };
      element.setPointerCapture(event.pointerId);
    });
    on('pointermove', ({ clientX, clientY }) => {
      if (drag === null) return;
      const [x, y] = [clientX - drag.x, clientY - drag.y];
      drag = { x: clientX, y: clientY };
      setPlace((now) => moved(now, x, y));
    });
    on('pointerup', () => (drag = null));
    on('pointercancel', () => (drag = null));
    on('dblclick', () => setPlace((now) => (now.scale === minScale ? zoomed(now, step ** 3) : fitted)));
    return () => listening.abort();
  }, []);

  return (
    <>
      <div
        ref={frame}
        className={classes.frame}
        role="group"
        aria-label={texts.lightbox.picture}
        tabIndex={0}
      >
        <img
          src={url}
          alt={texts.output.image}
          draggable={false}
          onError={onError}
          style={{ transform: `translate(${place.x}px, ${place.y}px) scale(${place.scale})` }}
        />
      </div>
      <div className={classes.floating}>
        <ActionIcon variant="default" aria-label={texts.lightbox.zoomOut} onClick={() => zoom(1 / step)}>
          <Minus size={16} aria-hidden />
        </ActionIcon>
        <output className="figures">{texts.lightbox.percent(Math.round(place.scale * 100))}</output>
        <ActionIcon variant="default" aria-label={texts.lightbox.zoomIn} onClick={() => zoom(step)}>
          <Plus size={16} aria-hidden />
        </ActionIcon>
        <Button variant="default" size="xs" onClick={() => setPlace(fitted)}>
          {texts.lightbox.fit}
        </Button>
      </div>
    </>
  );
}
