/**
 * The part of a forwarder's derivation index that a process takes for itself: a number that follows the clock, and a
 * random mark that tells apart copies of one database.
 */
export type Epoch = { readonly number: number; readonly mark: number };

export const marksPerNumber = 2 ** 12;
/** Indexes of one epoch, for each account and environment. */
export const indexesPerEpoch = 2 ** 20;

/** The first index of an epoch: number, mark and count have 31, 12 and 20 bits. */
export const firstIndexOf = ({ number, mark }: Epoch): bigint =>
  (BigInt(number) * BigInt(marksPerNumber) + BigInt(mark)) * BigInt(indexesPerEpoch);

/** As it is written in logs and in the data directory. */
export const formatEpoch = ({ number, mark }: Epoch): string => `${number}.${mark}`;

export const parseEpoch = (text: string): Epoch | null => {
  const [, number, mark] = /^(\d{1,10})\.(\d{1,4})$/.exec(text) ?? [];
  const epoch = { number: Number(number), mark: Number(mark) };
  return epoch.number > 0 && epoch.number < 2 ** 31 && epoch.mark < marksPerNumber ? epoch : null;
};

/** A time before the epoch was taken. Numbers follow the clock, but can be ahead of it after many starts at once. */
export const timeBefore = ({ number }: Epoch): Date => new Date(Date.UTC(2025, 0, 1) + (number - 3_600) * 1000);
