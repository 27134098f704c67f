import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Medium } from '../../../../parts/media.ts';
import type { FileKind } from '../form-schema.ts';
import classes from './media-picker.module.css';

/** A file that can be picked. Reading its media may take a moment. */
export interface Choice {
  key: string;
  media: () => Promise<readonly Pick<Medium, 'url' | 'name'>[]>;
}

export interface ChoicesProps {
  kind: FileKind;
  chosen: readonly Choice[];
  toggle: (choice: Choice) => void;
}

interface ChoiceTileProps {
  label: string;
  isChosen: boolean;
  toggle: () => void;
  /** A picture of the file. */
  children: ReactNode;
  caption: string;
}

export function ChoiceTile({ label, isChosen, toggle, children, caption }: ChoiceTileProps) {
  return (
    <button
      type="button"
      className={classes.tile}
      aria-pressed={isChosen}
      aria-label={label}
      onClick={toggle}
    >
      <span className={classes.picture}>{children}</span>
      {isChosen && (
        <span className={classes.check} aria-hidden>
          <Check size={14} />
        </span>
      )}
      <span className={classes.caption}>{caption}</span>
    </button>
  );
}
