import { CopyText } from './copy-text.tsx';
import classes from './command.module.css';

/** A shell command with a copy button. */
export function Command({ text, label }: { text: string; label: string }) {
  return (
    <div className={classes.command}>
      <pre tabIndex={0}>{text}</pre>
      <CopyText text={text} label={label} />
    </div>
  );
}
