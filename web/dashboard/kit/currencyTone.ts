export const tones = [1, 2, 3, 4, 5, 6, 7, 8] as const;
export type CurrencyTone = (typeof tones)[number];

const known: Readonly<Record<string, CurrencyTone>> = {
  USDC: 1,
  USDT: 2,
  DAI: 3,
  POL: 4,
  EURC: 5,
  BNB: 6,
  ETH: 7,
  AVAX: 8,
};

/** A currency has the same colour on every network, in every range of days and beside every other currency. */
export const currencyTone = (currency: string): CurrencyTone =>
  known[currency] ?? tones[[...currency].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % tones.length]!;
