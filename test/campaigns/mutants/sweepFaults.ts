// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import type { Fault } from './fault.ts';

/** Where swept money goes. */
export const sweepFaults: readonly Fault[] = [
  {
    harm: 'Swept funds would still be shown as held.',
    file: 'src/storage/settlement/holdings.ts',
    find: 'p.amount_confirmed - f.forwarded, 0',
    replace: 'p.amount_confirmed - p.amount_forwarded, 0',
    tests: ['dashboard/settlement'],
  },
  {
    harm: 'Any transaction would mark a sweep as landed.',
    file: 'src/storage/settlement/sweeps.ts',
    find: 'where f.tx_hash = s.tx_hash and f.caip2',
    replace: 'where f.caip2',
    tests: ['dashboard/settlement'],
  },
  {
    harm: 'A sweep would include payments that somebody changed in the database.',
    file: 'src/engine/settlement/sweepBatches.ts',
    find: 'items.filter(({ row }) => isAuthentic(context, row))',
    replace: 'items.filter(({ row }) => isAuthentic(context, row) || row.id)',
    tests: ['dashboard/settlement'],
  },
  {
    harm: 'A live payment would be created where nothing can sweep it.',
    file: 'src/engine/payments/createPayment.ts',
    find: "if (wallet.kind === 'forwarder') await requireFactory",
    replace: "if (wallet.kind !== 'forwarder') await requireFactory",
    tests: ['api/paymentsFactory'],
  },
  {
    harm: 'A sweep would send money to an address that is not the treasury of the merchant on that chain.',
    file: 'src/engine/settlement/strayFunds.ts',
    find: 'row.caip2 === row.strayCaip2 || isSet',
    replace: 'row.id || isSet',
    tests: ['dashboard/sweepStrays'],
  },
  {
    harm: 'A sweep would send money to a contract that is somebody else on that chain.',
    file: 'src/engine/wallets/contractTreasury.ts',
    find: "if (here === '') return",
    replace: "if (here === '?') return",
    tests: ['dashboard/sweepStrays'],
  },
  {
    harm: 'A sweep would send money to a contract that nobody confirmed on that network.',
    file: 'src/engine/wallets/contractTreasury.ts',
    find: 'if (await isConfirmed(',
    replace: 'if (!await isConfirmed(',
    tests: ['dashboard/contractTreasury'],
  },
  {
    harm: 'A sweep would trust a treasury although a node that could warn does not answer.',
    file: 'src/engine/wallets/contractTreasury.ts',
    find: 'return unasked ? couldNotAsk(unasked.slug) : null',
    replace: 'return null',
    tests: ['dashboard/contractTreasury'],
  },
  {
    harm: 'A new payout address would take effect at once.',
    file: 'src/engine/wallets/wallets.ts',
    find: 'production: 24',
    replace: 'production: 0',
    tests: ['dashboard/walletChanges'],
  },
  {
    harm: 'A change of payout address would take effect although it was stopped.',
    file: 'src/storage/wallets/wallets.ts',
    find: '${isDue} and ${isNotStopped}',
    replace: '${isDue}',
    tests: ['dashboard/walletChanges'],
  },
  {
    harm: 'Money would be swept to a token contract and be lost.',
    file: 'src/engine/wallets/treasury.ts',
    find: 'if (isToken(address, networks))',
    replace: 'if (isToken(address, []))',
    tests: ['dashboard/wallets'],
  },
];
