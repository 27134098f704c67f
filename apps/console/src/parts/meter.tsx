import classes from './meter.module.css';

interface MeterProps {
  label: string;
  current: number;
  limit: number;
  /** The two numbers with their unit. */
  text: string;
  /** Without the label in sight, for a cell of a table. */
  compact?: boolean;
}

/** How much of a limit is in use; full is said in words too. */
export function Meter({ label, current, limit, text, compact = false }: MeterProps) {
  const share = limit === 0 ? (current > 0 ? 1 : 0) : Math.min(1, current / limit);
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'calm';
  return (
    <div className={classes.meter} data-compact={compact || undefined}>
      <div className={classes.words}>
        {!compact && <span>{label}</span>}
        <span className={classes.numbers}>{text}</span>
      </div>
      <div
        className={classes.track}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(current, limit)}
        aria-valuetext={text}
      >
        <div className={classes.fill} data-tone={tone} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}
