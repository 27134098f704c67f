import { useEffect, useRef, useState } from 'react';
import { mask } from '../../../../texts/inputs.ts';
import { draw, drawAll, type MaskStep, type Point } from './mask-drawing.ts';
import classes from './mask-editor.module.css';

interface Size {
  width: number;
  height: number;
}

interface MaskCanvasProps {
  image: string;
  steps: readonly MaskStep[];
  /** Diameter of the brush in CSS pixels. */
  brush: number;
  isErasing: boolean;
  add: (step: MaskStep) => void;
  /** Gets the canvas once it has the size of the image. */
  shown: (canvas: HTMLCanvasElement) => void;
  broken: () => void;
}

/** The image, and over it a canvas of the image's own size. */
export function MaskCanvas({ image, steps, brush, isErasing, add, shown, broken }: MaskCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const ring = useRef<HTMLSpanElement>(null);
  const [size, setSize] = useState<Size>();

  useEffect(() => {
    if (canvas.current !== null && size !== undefined) drawAll(canvas.current, steps);
  }, [steps, size]);

  // React would need a role with an action.
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    let stroke: { width: number; points: Point[] } | null = null;
    const listening = new AbortController();
    const on = (
      name: 'pointerdown' | 'pointermove' | 'pointerup' | 'pointercancel' | 'pointerleave',
      act: (event: PointerEvent) => void,
    ) => element.addEventListener(name, act, { signal: listening.signal });
    const scale = () => element.width / element.getBoundingClientRect().width;
    const pointAt = ({ clientX, clientY }: PointerEvent): Point => {
      const { left, top } = element.getBoundingClientRect();
      return [(clientX - left) * scale(), (clientY - top) * scale()];
    };
    const extend = (points: Point[]) => {
      if (stroke === null) return;
      const from = stroke.points.slice(-1);
      stroke.points.push(...points);
      draw(element, { kind: 'stroke', isErasing, width: stroke.width, points: [...from, ...points] });
    };
    const finish = () => {
      if (stroke !== null) add({ kind: 'stroke', isErasing, ...stroke });
      stroke = null;
    };
    const follow = ({ offsetX, offsetY }: PointerEvent) => {
      if (ring.current === null) return;
      Object.assign(ring.current.style, { left: `${offsetX}px`, top: `${offsetY}px`, opacity: '1' });
    };
    on('pointerdown', (event) => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      stroke = { width: brush * scale(), points: [] };
      extend([pointAt(event)]);
    });
    on('pointermove', (event) => {
      follow(event);
      if (stroke !== null) extend((event.getCoalescedEvents?.() ?? [event]).map(pointAt));
    });
    on('pointerup', finish);
    on('pointercancel', finish);
    on('pointerleave', () => ring.current?.style.setProperty('opacity', '0'));
    return () => listening.abort();
  }, [brush, isErasing, add]);

  return (
    <div className={classes.stage}>
      <div className={classes.sheet} style={size && { width: fittedWidth(size) }}>
        <img
          src={image}
          alt=""
          draggable={false}
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) => {
            setSize({ width, height });
            if (canvas.current !== null) shown(canvas.current);
          }}
          onError={broken}
        />
        <canvas ref={canvas} role="img" aria-label={mask.canvas} width={size?.width} height={size?.height} />
        <span ref={ring} className={classes.ring} style={{ width: brush, height: brush }} aria-hidden />
      </div>
    </div>
  );
}

/** Fills the stage, but enlarges a small image only so far. The toolbars take the rest of the height. */
const fittedWidth = ({ width, height }: Size): string =>
  `min(100%, ${width * 3}px, calc((100dvh - 260px) * ${width / height}))`;
