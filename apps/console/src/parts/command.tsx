import { CopyText } from './copy-text.tsx';
import classes from './command.module.css';

interface CommandProps {
  text: string;
  /** The button copies this if it is more than is shown. */
  copied?: string;
  label: string;
}

/** A shell command with a copy button. */
export function Command({ text, copied = text, label }: CommandProps) {
  return (
    <div className={classes.command}>
      <pre tabIndex={0}>{text}</pre>
      <CopyText text={copied} label={label} />
    </div>
  );
}
