/** Amounts are bigint base units inside Florin and decimal strings outside. No float touches an amount. */

export type AmountProblem = 'format' | 'zero' | 'precision' | 'too_large';

const decimalPattern = /^(0|[1-9][0-9]{0,39})(?:\.([0-9]{1,60}))?$/;

/** The largest amount accepted, in token units. */
const maximumUnits = 10n ** 30n;

/**
 * The most base units that are recorded, of one transfer and of any sum. A contract may report any number; one beyond
 * this is recorded as this many and can never be verified.
 */
export const mostUnits = 10n ** 54n;

export const parseAmount = (
  text: string,
  decimals: number,
): { ok: true; units: bigint } | { ok: false; problem: AmountProblem } => {
  const match = decimalPattern.exec(text);
  if (!match) return { ok: false, problem: 'format' };
  const whole = match[1]!;
  const fraction = match[2] ?? '';
  if (fraction.length > decimals) return { ok: false, problem: 'precision' };
  const units = BigInt(whole + fraction.padEnd(decimals, '0'));
  if (units === 0n) return { ok: false, problem: 'zero' };
  if (units > maximumUnits * 10n ** BigInt(decimals)) return { ok: false, problem: 'too_large' };
  return { ok: true, units };
};

/** Canonical form: at least two fractional digits, and no trailing zeros beyond those. */
export const formatAmount = (units: bigint, decimals: number): string => {
  const digits = units.toString().padStart(decimals + 1, '0');
  const split = digits.length - decimals;
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 48) end--;
  return `${digits.slice(0, split)}.${digits.slice(split, end).padEnd(2, '0')}`;
};
