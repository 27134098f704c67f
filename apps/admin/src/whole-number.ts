import { InvalidArgumentError } from 'commander';

/** The columns are 32-bit integers. */
const maxCount = 2 ** 31 - 1;

/** A whole number within the bounds. Anything else is a usage error that names them. */
export const wholeNumber =
  (min: number, max = maxCount) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    return value;
  };
