import { ActionIcon, NumberInput, Slider, Tooltip } from '@mantine/core';
import type { WidgetProps } from '@rjsf/utils';
import { Dices } from 'lucide-react';
import { texts } from '../../../texts/index.ts';
import classes from './form.module.css';
import { exampleOf } from './form-context.ts';
import { labelOf } from './form-schema.ts';

const maxSeed = 2 ** 31 - 1;
/** Maximum number of slider steps. In a wider range, a step would be less than a pixel. */
const maxSteps = 4000;

/** A number input, with a slider if the range is bounded, and dice for a seed. */
export function NumberField({ id, name, schema, value, onChange }: WidgetProps) {
  const { minimum, maximum, multipleOf, type } = schema;
  const isInteger = type === 'integer';
  const number = typeof value === 'number' ? value : undefined;
  const shown = typeof schema.default === 'number' ? schema.default : undefined;
  const step = multipleOf ?? (isInteger ? 1 : stepOf(minimum, maximum));
  const hasSlider =
    minimum !== undefined &&
    maximum !== undefined &&
    maximum > minimum &&
    (maximum - minimum) / step <= maxSteps;
  const isSeed = /seed$/i.test(name);
  const label = labelOf(name);
  return (
    <div className={classes.number}>
      {hasSlider && !isSeed && (
        <Slider
          className={classes.slider}
          label={null}
          thumbLabel={label}
          min={minimum}
          max={maximum}
          step={step}
          value={number ?? shown ?? minimum}
          onChange={onChange}
        />
      )}
      <NumberInput
        id={id}
        aria-label={label}
        className={hasSlider && !isSeed ? classes.beside : classes.alone}
        min={minimum}
        max={maximum}
        step={step}
        allowDecimal={!isInteger}
        clampBehavior="none"
        hideControls
        placeholder={shown === undefined ? placeholderOf(exampleOf(schema)) : String(shown)}
        value={number ?? ''}
        onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
      />
      {isSeed && (
        <Tooltip label={texts.form.dice}>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={texts.form.dice}
            onClick={() => onChange(Math.floor(Math.random() * Math.min(maximum ?? maxSeed, maxSeed)))}
          >
            <Dices size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
    </div>
  );
}

const placeholderOf = (example: unknown): string | undefined =>
  typeof example === 'number' ? texts.form.example(String(example)) : undefined;

/** The largest of 1, 0.1, 0.01, … that divides the range into at least 20 steps. */
function stepOf(minimum = 0, maximum = 1): number {
  return 10 ** Math.min(0, Math.floor(Math.log10((maximum - minimum) / 20)));
}
