import type { MaskMeaning } from './mask.ts';

/** A step of painting. Points and the width of the brush are in pixels of the image. */
export type MaskStep =
  | { kind: 'stroke'; isErasing: boolean; width: number; points: readonly Point[] }
  | { kind: 'clear' }
  | { kind: 'invert' };

export type Point = readonly [x: number, y: number];

/** The colour while painting. What is exported depends on the meaning. */
const colour = '#2f6bff';

/** Painted areas are opaque and the rest is transparent. */
export function drawAll(canvas: HTMLCanvasElement, steps: readonly MaskStep[]): void {
  draw(canvas, { kind: 'clear' });
  for (const step of steps) draw(canvas, step);
}

export function draw(canvas: HTMLCanvasElement, step: MaskStep): void {
  const { width, height } = canvas;
  const pen = penOf(canvas);
  switch (step.kind) {
    case 'clear':
      return pen.clearRect(0, 0, width, height);
    case 'invert':
      pen.globalCompositeOperation = 'xor';
      return pen.fillRect(0, 0, width, height);
    case 'stroke': {
      pen.globalCompositeOperation = step.isErasing ? 'destination-out' : 'source-over';
      pen.lineWidth = step.width;
      pen.beginPath();
      for (const [x, y] of step.points) pen.lineTo(x, y);
      pen.stroke();
      // A line without a length is not drawn.
      const [[x, y] = [0, 0]] = step.points;
      pen.beginPath();
      pen.arc(x, y, step.width / 2, 0, 2 * Math.PI);
      pen.fill();
    }
  }
}

function penOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const pen = canvas.getContext('2d');
  if (pen === null) throw new Error('This browser has no 2D canvas.');
  pen.fillStyle = colour;
  pen.strokeStyle = colour;
  pen.lineCap = 'round';
  pen.lineJoin = 'round';
  return pen;
}

/** Whether nothing is painted, as far as the steps tell without looking at pixels. */
export const isBlank = (steps: readonly MaskStep[]): boolean =>
  steps.findLastIndex(({ kind }) => kind === 'clear') === steps.length - 1;

/** The mask as a PNG of the image's size. Null if the browser can't make one so large. */
export function exported(painted: HTMLCanvasElement, meaning: MaskMeaning): Promise<Blob | null> {
  const { width, height } = painted;
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const pen = penOf(canvas);
  const fill = (style: string, operation: GlobalCompositeOperation) => {
    pen.globalCompositeOperation = operation;
    pen.fillStyle = style;
    pen.fillRect(0, 0, width, height);
  };
  if (meaning === 'transparent') {
    fill('black', 'source-over');
    pen.globalCompositeOperation = 'destination-out';
    pen.drawImage(painted, 0, 0);
  } else {
    pen.drawImage(painted, 0, 0);
    fill(meaning, 'source-in');
    fill(meaning === 'white' ? 'black' : 'white', 'destination-over');
  }
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}
