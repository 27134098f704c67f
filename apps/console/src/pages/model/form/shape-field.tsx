import { ActionIcon } from '@mantine/core';
import { X } from 'lucide-react';
import { inputs } from '../../../texts/inputs.ts';
import classes from './shape-field.module.css';
import { shapeOf } from './shapes.ts';

/** The longer side of a drawn shape, in CSS pixels. */
const longest = 26;
/** Narrower shapes would look like lines. */
const shortest = 8;

interface ShapeFieldProps {
  id: string;
  label: string;
  choices: readonly { label: string; value: unknown }[];
  value: unknown;
  /** The provider's value if nothing is chosen. */
  standard: unknown;
  required: boolean;
  onChange: (value: unknown) => void;
}

/** A radio group that draws the shape of each choice. */
export function ShapeField({ id, label, choices, value, standard, required, onChange }: ShapeFieldProps) {
  return (
    <div id={id} role="radiogroup" aria-label={label} className={classes.shapes}>
      {choices.map((choice) => (
        <label
          key={choice.label}
          className={classes.shape}
          data-standard={(value === undefined && choice.value === standard) || undefined}
        >
          <input
            type="radio"
            className="visually-hidden"
            name={id}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          <span className={classes.frame} aria-hidden>
            <Drawing choice={choice.value} />
          </span>
          <span className="figures">{choice.label}</span>
          {choice.value === standard && <span className={classes.standard}>{inputs.standard}</span>}
        </label>
      ))}
      {value !== undefined && !required && (
        <ActionIcon
          variant="subtle"
          color="gray"
          className={classes.clear}
          aria-label={inputs.remove(label)}
          onClick={() => onChange(undefined)}
        >
          <X size={14} aria-hidden />
        </ActionIcon>
      )}
    </div>
  );
}

function Drawing({ choice }: { choice: unknown }) {
  const shape = shapeOf(choice);
  if (shape === undefined) return <span className={classes.other} />;
  const scale = longest / Math.max(shape.width, shape.height);
  const [width, height] = [shape.width, shape.height].map((side) => Math.max(shortest, side * scale));
  return <span className={classes.drawing} style={{ width, height }} />;
}
