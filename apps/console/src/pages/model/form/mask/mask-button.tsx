import { Button } from '@mantine/core';
import { Brush } from 'lucide-react';
import { lazy, Suspense, use, useState } from 'react';
import { mask } from '../../../../texts/inputs.ts';
import { WholeInput } from '../form-context.ts';
import type { MaskStep } from './mask-drawing.ts';
import { imageIn, type MaskTerms } from './mask.ts';
import classes from '../media/media-field.module.css';

const MaskEditor = lazy(async () => ({ default: (await import('./mask-editor.tsx')).MaskEditor }));

interface MaskButtonProps {
  terms: MaskTerms;
  done: (file: File) => void;
}

/** Opens an editor that paints a mask on the image in the same form. It continues from what was painted on this image. */
export function MaskButton({ terms, done }: MaskButtonProps) {
  const image = imageIn(use(WholeInput));
  const [isOpen, setOpen] = useState(false);
  const [painted, setPainted] = useState<{ image: string; steps: readonly MaskStep[] }>();
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Brush size={14} aria-hidden />}
        disabled={image === undefined}
        onClick={() => setOpen(true)}
      >
        {mask.paint}
      </Button>
      {image === undefined && <span className={classes.note}>{mask.needsImage}</span>}
      {isOpen && image !== undefined && (
        <Suspense fallback={null}>
          <MaskEditor
            image={image}
            terms={terms}
            before={painted?.image === image ? painted.steps : []}
            done={done}
            close={(steps) => {
              setOpen(false);
              setPainted({ image, steps });
            }}
          />
        </Suspense>
      )}
    </>
  );
}
