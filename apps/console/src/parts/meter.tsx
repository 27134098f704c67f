import classes from './meter.module.css';

interface BarProps {
  label: string;
  current: number;
  limit: number;
}

interface MeterProps extends BarProps {
  /** Both numbers with their unit. */
  text: string;
  /** Hides the visible label, for table cells. */
  compact?: boolean;
}

/** How much of a limit is in use, in numbers and as a bar. */
export function Meter({ text, compact = false, ...bar }: MeterProps) {
  return (
    <div className={classes.meter} data-compact={compact || undefined}>
      <div className={classes.words}>
        {!compact && <span>{bar.label}</span>}
        <span className={classes.numbers}>{text}</span>
      </div>
      <Bar {...bar} />
    </div>
  );
}

export function Bar({ label, current, limit }: BarProps) {
  const share = limit === 0 ? Number(current > 0) : Math.min(1, current / limit);
  return (
    <div
      className={classes.track}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(current, limit)}
    >
      <div
        className={classes.fill}
        data-tone={share >= 0.8 ? 'warn' : undefined}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
}
