const whole = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** Two decimals. Amounts below $1 with a fraction of a cent get up to three significant digits instead. */
export function dollarsOfCents(cents: number): string {
  const dollars = cents / 100;
  if (Number.isInteger(cents) || Math.abs(dollars) >= 1) return whole.format(dollars);
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    maximumSignificantDigits: 3,
  }).format(dollars);
}
