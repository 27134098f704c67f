import { ActionIcon, Button } from '@mantine/core';
import { Minus, Plus } from 'lucide-react';
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
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

/** An image with zoom by wheel, keys or buttons, and with panning by pointer or arrow keys. */
export function ImageView({ url, onError }: { url: string; onError: () => void }) {
  const [place, setPlace] = useState(fitted);
  const frame = useRef<HTMLDivElement>(null);
  const drag = useRef<{ x: number; y: number }>(null);

  /** Keeps the point under the pointer where it is. The point is relative to the centre. */
  const zoom = (factor: number, at = { x: 0, y: 0 }) =>
    setPlace((now) => {
      const scale = Math.min(maxScale, Math.max(minScale, now.scale * factor));
      if (scale === minScale) return fitted;
      const grown = scale / now.scale;
      return { scale, x: at.x - (at.x - now.x) * grown, y: at.y - (at.y - now.y) * grown };
    });
  const move = (x: number, y: number) =>
    setPlace((now) => (now.scale === minScale ? now : { ...now, x: now.x + x, y: now.y + y }));

  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top, width, height } = element.getBoundingClientRect();
      const at = { x: event.clientX - left - width / 2, y: event.clientY - top - height / 2 };
      zoom(Math.exp(-event.deltaY / 400), at);
    };
    // React listens passively, and could not keep the page from scrolling.
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const by = moves[event.key];
    if (event.key === '+' || event.key === '=') zoom(step);
    else if (event.key === '-') zoom(1 / step);
    else if (event.key === '0') setPlace(fitted);
    else if (by !== undefined) move(...by);
    else return;
    event.preventDefault();
  };
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    drag.current = { x: event.clientX, y: event.clientY };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = ({ clientX, clientY }: PointerEvent) => {
    if (drag.current === null) return;
    move(clientX - drag.current.x, clientY - drag.current.y);
    drag.current = { x: clientX, y: clientY };
  };
  const endDrag = () => (drag.current = null);
  return (
    <>
      <div
        ref={frame}
        className={classes.frame}
        role="group"
        aria-label={texts.lightbox.picture}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={endDrag}
        onPointerCancel={endDrag}
        onDoubleClick={() => (place.scale === minScale ? zoom(step ** 3) : setPlace(fitted))}
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
