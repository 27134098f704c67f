import { CopyText } from './copy-text.tsx';
import classes from './command.module.css';

/** Lines for a shell. */
export function Command({ text, label }: { text: string; label: string }) {
  return (
    <div className={classes.command}>
      <pre tabIndex={0}>{text}</pre>
      <CopyText text={text} label={label} />
    </div>
  );
}
