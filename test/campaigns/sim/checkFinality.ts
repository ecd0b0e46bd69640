import type { Check } from './checkChain.ts';
import type { Body, EventMemory, Shown } from './checkHistory.ts';
import type { EventRow, Tables } from './tables.ts';

/** What the maker of the chain knows about it. */
export type ChainMemory = {
  /** The highest block there can have been at an instant. */
  highestAt(ms: number): number;
  /** Whether this transaction was ever taken out of a block. */
  wasOrphaned(txHash: string): boolean;
};

export type FinalityOptions = {
  readonly depth: number;
  /** Whether reorgs go as deep as the rule. */
  readonly mayReverse: boolean;
  /** Whether a transfer that a reorg has moved counts only once it is proven in its new block. The local chain needs no proof. */
  readonly needsProof: boolean;
  readonly chain: ChainMemory;
};

const unitsOf = (text: string): bigint => {
  const [whole, fraction = ''] = text.split('.');
  return BigInt(whole! + fraction.padEnd(36, '0'));
};

const finalSum = ({ transactions }: Body['data'], depth: number): bigint =>
  transactions.reduce((sum, { amount, confirmations }) => (confirmations >= depth ? sum + unitsOf(amount) : sum), 0n);

const inventedBlock = ({ transactions }: Body['data'], atMs: number, chain: ChainMemory): Shown | undefined =>
  transactions.find(({ blockNumber, confirmations }) => blockNumber + confirmations - 1 > chain.highestAt(atMs));

const completionFault = (event: EventRow, { data }: Body, { depth, chain }: FinalityOptions): string | null => {
  if (data.confirmations.rule !== 'depth' || data.confirmations.required !== depth) {
    return `is completed under ${data.confirmations.rule} ${data.confirmations.required}`;
  }
  if (finalSum(data, depth) < unitsOf(data.amount)) return `is completed with ${JSON.stringify(data.transactions)}`;
  const invented = inventedBlock(data, event.createdMs, chain);
  return invented ? `counts confirmations of blocks that were not there: ${JSON.stringify(invented)}` : null;
};

/**
 * A reversal is right if the completing funds were in a block that is gone, and the rest was not final at that moment.
 */
const reversalFault = (body: Body, completion: Body, options: FinalityOptions): string | null => {
  const { depth, mayReverse, needsProof, chain } = options;
  if (!mayReverse) return 'is reversed, though no reorg went that deep';
  if (!needsProof && finalSum(body.data, depth) >= unitsOf(body.data.amount))
    return 'is reversed with its funds in final blocks';
  // Coin found by the balance names no transaction.
  const couldGo = completion.data.transactions.some(({ hash }) => hash === null || chain.wasOrphaned(hash));
  return couldGo ? null : 'is reversed, though nothing that completed it was ever taken out of a block';
};

/** I8: completed only once the whole amount is as deep as the rule asks; reversed only by a reorg that goes as deep. */
export const checkFinality = ({ events }: Tables, memory: EventMemory, options: FinalityOptions): Check => {
  let [completions, reversals] = [0, 0];
  const problems: string[] = [];
  const report = (event: EventRow, fault: string | null): void => {
    if (fault !== null) problems.push(`${event.paymentId} at ${event.sequence} ${fault}`);
  };
  let completion: Body | null = null;
  for (const event of events) {
    if (event.sequence === 1) completion = null;
    if (event.previousStatus === event.status) continue;
    const body = memory.bodies.get(event.id)!;
    if (event.status === 'completed') {
      completions += 1;
      completion = body;
      report(event, completionFault(event, body, options));
    }
    if (event.status === 'reversed') {
      reversals += 1;
      report(
        event,
        completion === null ? 'is reversed before it was completed' : reversalFault(body, completion, options),
      );
    }
  }
  return {
    what: `I8 ${completions} completions at depth ${options.depth} and ${reversals} reversals are right`,
    problems,
  };
};
