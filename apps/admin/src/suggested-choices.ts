import { didYouMean } from '#catalog';
import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander';

/** Makes every option and argument with choices suggest the nearest one, in this command and those below it. */
export function suggestChoices(command: Command): void {
  for (const each of [...command.options, ...command.registeredArguments]) suggestOne(each);
  command.commands.forEach(suggestChoices);
}

function suggestOne(each: Option | Argument): void {
  const { argChoices: choices, parseArg: parse } = each;
  if (choices === undefined || parse === undefined) return;
  each.parseArg = <T>(value: string, previous: T): T => {
    if (choices.includes(value)) return parse.call(each, value, previous) as T;
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.${didYouMean(value, choices)}`);
  };
}
