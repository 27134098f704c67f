import { Button, Modal, SegmentedControl, Slider } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useCallback, useState } from 'react';
import { mask } from '../../../../texts/inputs.ts';
import { MaskCanvas } from './mask-canvas.tsx';
import { exported, isBlank, type MaskStep } from './mask-drawing.ts';
import type { MaskMeaning, MaskTerms } from './mask.ts';
import classes from './mask-editor.module.css';

/** Diameters of the brush in CSS pixels. */
const [minBrush, maxBrush] = [4, 160];

interface MaskEditorProps {
  /** The link of the image to paint on. */
  image: string;
  terms: MaskTerms;
  /** The steps that were painted on this image before. */
  before: readonly MaskStep[];
  /** Gets the mask as a PNG of the image's size. */
  done: (file: File) => void;
  close: (steps: readonly MaskStep[]) => void;
}

/** Paints a mask on an image. */
export function MaskEditor({ image, terms, before, done, close }: MaskEditorProps) {
  const [steps, setSteps] = useState(before);
  const [tool, setTool] = useState<'paint' | 'erase'>('paint');
  const [brush, setBrush] = useState(40);
  const [chosen, setChosen] = useState<MaskMeaning>();
  const [canvas, setCanvas] = useState<HTMLCanvasElement | null>(null);
  const [problem, setProblem] = useState<string>();
  const meaning = terms.meaning ?? chosen;
  const add = useCallback((step: MaskStep) => setSteps((now) => [...now, step]), []);
  const undo = () => setSteps((now) => now.slice(0, -1));
  useHotkeys([['mod+z', undo]]);
  const use = async () => {
    if (canvas === null || meaning === undefined) return;
    const png = await exported(canvas, meaning);
    if (png === null) return setProblem(mask.tooLarge);
    done(new File([png], 'mask.png', { type: png.type }));
    close(steps);
  };
  return (
    <Modal
      opened
      onClose={() => close(steps)}
      title={mask.title}
      fullScreen
      classNames={{ content: classes.content ?? '', body: classes.body ?? '' }}
    >
      <MaskCanvas
        image={image}
        steps={steps}
        brush={brush}
        isErasing={tool === 'erase'}
        add={add}
        shown={setCanvas}
        broken={() => setProblem(mask.broken)}
      />
      {problem !== undefined && <p role="alert">{problem}</p>}
      <div className={classes.tools}>
        <SegmentedControl
          size="xs"
          aria-label={mask.tool}
          data={(['paint', 'erase'] as const).map((value) => ({ value, label: mask.tools[value] }))}
          value={tool}
          onChange={setTool}
        />
        <span className={classes.brush}>
          <span aria-hidden>{mask.brush}</span>
          <Slider
            className={classes.slider}
            thumbLabel={mask.brush}
            min={minBrush}
            max={maxBrush}
            value={brush}
            onChange={setBrush}
          />
        </span>
        <Button variant="default" size="xs" disabled={steps.length === 0} onClick={undo}>
          {mask.undo}
        </Button>
        <Button variant="default" size="xs" onClick={() => add({ kind: 'invert' })}>
          {mask.invert}
        </Button>
        <Button variant="default" size="xs" disabled={isBlank(steps)} onClick={() => add({ kind: 'clear' })}>
          {mask.clear}
        </Button>
      </div>
      <div className={classes.tools}>
        {terms.meaning === undefined ? (
          <>
            <span className="dimmed">
              {mask.unknown} {mask.meaning}
            </span>
            <SegmentedControl
              size="xs"
              aria-label={mask.meaning}
              data={(['white', 'black', 'transparent'] as const).map((value) => ({
                value,
                label: mask.meanings[value],
              }))}
              value={chosen ?? ''}
              onChange={(value) => setChosen(value as MaskMeaning)}
            />
          </>
        ) : (
          <span className="dimmed">{mask.known[terms.meaning]}</span>
        )}
        <span className={classes.rest}>
          <Button variant="default" size="xs" onClick={() => close(steps)}>
            {mask.cancel}
          </Button>
          <Button
            size="xs"
            disabled={isBlank(steps) || canvas === null || meaning === undefined}
            onClick={() => void use()}
          >
            {mask.use}
          </Button>
        </span>
      </div>
    </Modal>
  );
}
