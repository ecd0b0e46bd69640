/**
 * The key of coin that was found by balance. It includes the amount: another sum found later in the same block is another
 * movement. `total` is what the payment had received by transfers up to that block, with this one. A seal covers the key.
 */
export const coinKey = (blockHash: string, address: string, amount: bigint, total: bigint): string =>
  `${blockHash}:delta:${address}:${amount}:${total}`;

/** Null for other keys, and for those of earlier versions. */
const totalOf = (key: string): bigint | null => {
  const [, kind, , , total] = key.split(':');
  return kind === 'delta' && total !== undefined ? BigInt(total) : null;
};

type Counted = { readonly key: string; readonly blockNumber: number; readonly amount: string };

/**
 * Coin that was found by balance although other transfers already say where it came from. A balance includes all earlier
 * coin, so up to its block a payment has never received more than the total that was found. If it has, somebody hid a
 * transfer from the database while the balance was read, and put it back.
 */
export const countedTwice = <T extends Counted>(transfers: readonly T[]): T[] => {
  /** By height: more may be found later in the same block. */
  const totals = new Map<number, bigint>();
  for (const { key, blockNumber } of transfers) {
    const [total, other] = [totalOf(key), totals.get(blockNumber)];
    if (total !== null && (other === undefined || total > other)) totals.set(blockNumber, total);
  }
  if (totals.size === 0) return [];
  const received = new Map<number, bigint>();
  let sum = 0n;
  for (const { blockNumber, amount } of transfers.toSorted((a, b) => a.blockNumber - b.blockNumber)) {
    sum += BigInt(amount);
    received.set(blockNumber, sum);
  }
  return transfers.filter(({ key, blockNumber }) => {
    const total = totals.get(blockNumber);
    return total !== undefined && totalOf(key) !== null && received.get(blockNumber)! > total;
  });
};
