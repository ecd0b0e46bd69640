// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import type { Fault } from './fault.ts';

const crediting: readonly Fault[] = [
  {
    harm: 'Coin of a failed transaction would be credited.',
    file: 'src/chains/evm/movements.ts',
    find: 'receipt.succeeded ? [{ ...coin',
    replace: 'true ? [{ ...coin',
    tests: ['chains/followMovements'],
  },
  {
    harm: 'A token transfer would become final by the word of one node.',
    file: 'src/chains/evm/movements.ts',
    find: 'verified.has(transfer) && !disproved',
    replace: '!disproved',
    tests: ['chains/followMovements'],
  },
  {
    harm: 'Worthless tokens that are not listed would be credited.',
    file: 'src/chains/evm/movements.ts',
    find: 'listed.has(log.contract) ? readTransfer(log) : null',
    replace: 'readTransfer(log)',
    tests: ['chains/followMovements'],
  },
  {
    harm: 'A token that reports more than any amount could complete a payment.',
    file: 'src/chains/evm/movements.ts',
    find: ' && isPlausible(transfer)',
    replace: '',
    tests: ['chains/followMovements'],
  },
  {
    harm: 'A merchant would accept a sum that they have not seen.',
    file: 'src/engine/payments/actOnPayment.ts',
    find: 'expected !== null && expected !== received',
    replace: 'false',
    tests: ['watch/dust'],
  },
  {
    harm: "A stranger's dust would keep a merchant from canceling a payment.",
    file: 'src/core/payment/dust.ts',
    find: 'sum < dustFloor',
    replace: 'sum < 0n',
    tests: ['core/payment/dust'],
  },
  {
    harm: 'Real money would be called dust, and nobody would be told of it.',
    file: 'src/core/payment/dust.ts',
    find: ' && sum * 100n < amount',
    replace: '',
    tests: ['core/payment/dust'],
  },
  {
    harm: 'A late payer of a coin could wait until its price has fallen.',
    file: 'src/engine/payments/createPayment.ts',
    find: "contractAddress === null ? 'manual' : 'accept'",
    replace: "'accept'",
    tests: ['watch/dust'],
  },
  {
    harm: 'A token with other decimals than listed would be credited with a wrong sum.',
    file: 'src/chains/evm/inspectTokens.ts',
    find: 'found === BigInt(decimals)',
    replace: 'found <= 255n',
    tests: ['chains/followMovements'],
  },
  {
    harm: 'A node could hide transfers by leaving logs out.',
    file: 'src/chains/evm/fetchBlocks.ts',
    find: ' || !explainsBloom(block, logs)',
    replace: '',
    tests: ['chains/followForged'],
  },
  {
    harm: 'A node could hide transfers by emptying the bloom filter of a block.',
    file: 'src/chains/evm/headerHash.ts',
    find: 'hashHeader(fields) === hash ||',
    replace: 'fields !== null ||',
    tests: ['chains/followHeaders'],
  },
  {
    harm: 'A node that has lost a log could hide a transfer in the history of a chain.',
    file: 'src/chains/evm/fetchBlocks.ts',
    find: 'isUsable ? own : []',
    replace: 'own',
    tests: ['chains/followHeaders'],
  },
  {
    harm: 'A node could hide a transfer in a header of a new shape while the format is known.',
    file: 'src/chains/evm/headerBook.ts',
    find: 'if (nowMs() - alone.sinceMs < patienceMs) throw unconfirmed();',
    replace: '',
    tests: ['chains/followHeaders'],
  },
  {
    harm: 'The right token on a wrong chain would be credited.',
    file: 'src/storage/chain/movements.ts',
    find: 'p.caip2 <> $1 or p.contract',
    replace: "$1 = '' or p.contract",
    tests: ['watch/strays'],
  },
  {
    harm: 'Coin that was forwarded would be credited a second time.',
    file: 'src/storage/chain/coins.ts',
    find: 'amount: `-${amount}`',
    replace: 'amount',
    tests: ['watch/forwarding'],
  },
  {
    harm: 'A checkout page would ask again for money that has arrived.',
    file: 'src/engine/payments/checkoutView.ts',
    find: ' - received',
    replace: '',
    tests: ['engine/checkoutView'],
  },
  {
    harm: 'Payers would be given an address on a network that nobody reads.',
    file: 'src/engine/chain/networkDirectory.ts',
    find: "found.status === 'down' || ",
    replace: '',
    tests: ['api/paymentsProduction'],
  },
  {
    harm: 'A retried request with another body would get the answer of the first one.',
    file: 'src/engine/idempotency.ts',
    find: '!kept.bodyHash.equals(request.bodyHash)',
    replace: 'kept.bodyHash.length === 0',
    tests: ['api/idempotency'],
  },
];

const totals: readonly Fault[] = [
  {
    harm: 'A reversed payment would stay in the volumes.',
    file: 'src/engine/payments/movedFunds.ts',
    find: '...volumeOf(change.before, -1), ',
    replace: '',
    tests: ['dashboard/home'],
  },
  {
    harm: 'The newest payments would be missing from the totals of a list.',
    file: 'src/storage/payments/listPayments.ts',
    find: '+ (select coalesce(sum(change), 0) from payment_deltas where ${owned}${same})',
    replace: '',
    tests: ['api/totals'],
  },
  {
    harm: 'A payment would be counted under its old and its new status.',
    file: 'src/storage/payments/moveTotals.ts',
    find: '(m.old_status, m.old_exception, -1)',
    replace: '(m.new_status, m.old_exception, -1)',
    tests: ['api/totals'],
  },
];

/** Crediting, amounts, finality, reorgs, totals. Decisions of src/core are left to `npm run mutation`. */
export const moneyFaults: readonly Fault[] = [...crediting, ...totals];
