const whole = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** Two decimals, and as many more as a small amount needs to be no zero. */
export function dollarsOfCents(cents: number): string {
  const dollars = cents / 100;
  if (Number.isInteger(cents) || Math.abs(dollars) >= 1) return whole.format(dollars);
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    maximumSignificantDigits: 3,
  }).format(dollars);
}
