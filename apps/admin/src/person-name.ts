import { InvalidArgumentError } from 'commander';

/** 1 to 128 printable characters. Invisible ones could make one person look like another. */
export const personName = /^(?!\p{Zs})[^\p{C}\p{Zl}\p{Zp}]{1,128}(?<!\p{Zs})$/u;
export const personNameRule =
  'must be 1 to 128 printable characters, without a space at the beginning or end';

/** The name of a person who runs commands. */
export function personOption(text: string): string {
  if (!personName.test(text)) throw new InvalidArgumentError(`It ${personNameRule}.`);
  return text;
}
