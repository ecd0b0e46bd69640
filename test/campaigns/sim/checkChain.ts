import type { ChainTransfer, WalkedBlock } from './chainWalk.ts';
import type { Tables, TransferRow } from './tables.ts';

export type Check = { readonly what: string; readonly problems: readonly string[] };
export type Walked = ReadonlyMap<number, WalkedBlock>;

/** Blocks that a reorg may still reach; older empty ones may be forgotten. */
export const keptBlocks = 256;

/** Found by the balance and not by a transaction: native coin that a contract sent. */
export const isByBalance = ({ key }: Pick<TransferRow, 'key'>): boolean => key.includes(':delta:');

const lineOfChain = (transfer: ChainTransfer): string =>
  [
    transfer.blockNumber,
    `${transfer.blockHash}:${transfer.place}`,
    transfer.txHash,
    transfer.from,
    transfer.to,
    transfer.contract,
    transfer.amount,
  ].join(' ');

const lineOfRow = (row: TransferRow, address: string): string =>
  [row.blockNumber, row.key, row.txHash, row.sender, address, row.contract, row.amount].join(' ');

const countOf = (lines: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
};

/** I1: what the database holds as canonical is what the chain moved to payments' addresses, neither less nor more. */
export const checkTransfers = (tables: Tables, walked: Walked, listed: ReadonlySet<string>): Check => {
  const addressOf = new Map(tables.payments.map(payment => [payment.id, payment.address]));
  const addresses = new Set(addressOf.values());
  const onChain = [...walked.values()].flatMap(block =>
    block.transfers.filter(({ to, contract }) => addresses.has(to) && (contract === null || listed.has(contract))),
  );
  const expected = countOf(onChain.map(lineOfChain));
  const standing = tables.transfers.filter(row => row.canonical && !isByBalance(row));
  const found = countOf(standing.map(row => lineOfRow(row, addressOf.get(row.paymentId) ?? 'nobody')));
  const problems = [
    ...[...expected].filter(([line, count]) => found.get(line) !== count).map(([line]) => `not stored: ${line}`),
    ...[...found].filter(([line, count]) => expected.get(line) !== count).map(([line]) => `not on the chain: ${line}`),
  ];
  return {
    what: `I1 the ${onChain.length} transfers on the chain are the ${standing.length} canonical ones`,
    problems,
  };
};

type Sent = { readonly to: string; readonly contract: string | null; readonly amount: bigint };
/** What each transaction was made to move, by whoever made it. */
export type Ledger = ReadonlyMap<string, readonly Sent[]>;

/** I2: nothing was ever credited, not even in a block that is gone, that nobody sent; nor of another token. */
export const checkPhantoms = (tables: Tables, ledger: Ledger): Check => {
  const payments = new Map(tables.payments.map(payment => [payment.id, payment]));
  const problems = tables.transfers.flatMap(row => {
    const payment = payments.get(row.paymentId);
    if (!payment) return [`${row.key} belongs to no payment`];
    const isWrongKind = (row.contract !== payment.contract) !== row.stray;
    if (isWrongKind) return [`${row.key} of ${row.contract} for ${payment.id} is ${row.stray ? '' : 'not '}a stray`];
    if (isByBalance(row)) return [];
    const wasSent = (ledger.get(row.txHash ?? '') ?? []).some(
      ({ to, contract, amount }) =>
        to === payment.address && contract === row.contract && amount === BigInt(row.amount),
    );
    return wasSent ? [] : [`${row.key} for ${payment.id} was never sent`];
  });
  return { what: `I2 all ${tables.transfers.length} transfers, orphans too, were really sent`, problems };
};

/** I3: the canonical blocks are the chain's, linked by hash, and none of those a reorg may reach is missing. */
export const checkBlocks = (tables: Tables, walked: Walked): Check => {
  const { startNumber, latestNumber, latestHash } = tables.chain;
  const canonical = new Map<number, (typeof tables.blocks)[number]>();
  const problems: string[] = [];
  for (const block of tables.blocks.filter(each => each.canonical)) {
    if (canonical.has(block.number)) problems.push(`two canonical blocks ${block.number}`);
    canonical.set(block.number, block);
    const there = walked.get(block.number);
    if (there?.hash !== block.hash || there.parentHash !== block.parentHash || there.timestampS !== block.timestampS) {
      problems.push(`block ${block.number} is ${block.hash}, on the chain ${there?.hash}`);
    }
  }
  for (let number = Math.max(startNumber, latestNumber - keptBlocks + 1); number <= latestNumber; number++) {
    if (!canonical.has(number)) problems.push(`block ${number} is missing below ${latestNumber}`);
  }
  for (const [number, block] of canonical) {
    const parent = canonical.get(number - 1);
    if (parent && parent.hash !== block.parentHash) problems.push(`block ${number} does not link to ${number - 1}`);
  }
  if (canonical.get(latestNumber)?.hash !== latestHash) problems.push(`the cursor is not block ${latestNumber}`);
  const hashes = new Set([...canonical.values()].map(({ hash }) => hash));
  for (const row of tables.transfers) {
    if (row.canonical !== hashes.has(row.blockHash)) {
      problems.push(`${row.key} is ${row.canonical ? '' : 'not '}canonical, unlike its block`);
    }
  }
  return { what: `I3 ${canonical.size} canonical blocks are the chain's, linked and without a gap`, problems };
};
