export const count = (value: number): string => value.toLocaleString('en-US');

const units = ['B', 'KB', 'MB', 'GB', 'TB'];

export function bytes(value: number): string {
  const power = value < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  const amount = value / 1000 ** power;
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[power]}`;
}
