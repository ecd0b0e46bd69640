// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import type { Fault } from './fault.ts';

/** Somebody who can write to the database is believed about blocks, transfers and coin. */
export const forgedFactsFaults: readonly Fault[] = [
  {
    harm: 'A transfer that a reorganization took would count when somebody puts its block back.',
    file: 'src/engine/payments/fundsSeal.ts',
    find: 'return canonical ? isGone : ',
    replace: 'return canonical ? false : ',
    tests: ['engine/branches'],
  },
  {
    harm: 'Somebody who calls a block orphaned would have payments reversed.',
    file: 'src/engine/payments/fundsSeal.ts',
    find: ': !isGone && !superseded;',
    replace: ': false;',
    tests: ['engine/branches'],
  },
  {
    harm: 'A payment would be reversed because somebody removed its transfers.',
    file: 'src/engine/payments/fundsSeal.ts',
    find: 'if (!isFinal || sumOf(credits) < BigInt(row.amountReceived))',
    replace: 'if (!isFinal)',
    tests: ['engine/branches'],
  },
  {
    harm: 'A payment that was reversed would read as completed when somebody puts back its row.',
    file: 'src/engine/payments/fundsSeal.ts',
    find: 'if (credits.length < shownTransfers &&',
    replace: 'if (credits.length < 0 &&',
    tests: ['engine/branches'],
  },
  {
    harm: 'A payment would be completed by transfers that somebody calls final.',
    file: 'src/engine/payments/fundsSeal.ts',
    find: 'if (!isFinal || ',
    replace: 'if (',
    tests: ['engine/branches'],
  },
  {
    harm: 'A block could be said to have been shown again.',
    file: 'src/engine/payments/fundsSeal.ts',
    find: 'block.branch !== null && !isBlockSealed(',
    replace: 'block.branch === -1 && !isBlockSealed(',
    tests: ['engine/branches'],
  },
  {
    harm: 'The row of a chain could be put back, so that a reorganization is not noticed.',
    file: 'src/engine/chain/branches.ts',
    find: 'last?.number === latestNumber && last.hash === latestHash && last.branch === branch',
    replace: 'last !== undefined',
    tests: ['engine/branches'],
  },
  {
    harm: 'An orphaned block could be called the fork, so that those above it count.',
    file: 'src/engine/chain/branches.ts',
    find: '|| isLost(block, line)',
    replace: '',
    tests: ['engine/branches'],
  },
  {
    harm: 'Branches that were changed or removed in the database would hide reorganizations.',
    file: 'src/engine/chain/branches.ts',
    find: 'branches.length === rows.length ? branches : null',
    replace: 'branches',
    tests: ['engine/branches'],
  },
  {
    harm: 'A correction that somebody wrote into the database would pay with coin that never came.',
    file: 'src/storage/chain/coins.ts',
    find: '(correction && !isTripleSealed(sealer, correction.sealed))',
    replace: 'false',
    tests: ['workers/forgedCorrections'],
  },
  {
    harm: 'A correction without an act in the audit log would get a seal.',
    file: 'src/engine/seals/sealOlderCorrections.ts',
    find: 'genuine >= (await countAlike(db, text))',
    replace: 'true',
    tests: ['workers/forgedCorrections'],
  },
  {
    harm: 'Coin of a transfer that somebody hid and put back would be credited twice.',
    file: 'src/engine/payments/fundsSeal.ts',
    find: '...countedTwice(counted)',
    replace: '...countedTwice([])',
    tests: ['workers/hiddenTransfers'],
  },
  {
    harm: 'Whoever lowers the latest block of a network would make older funds count for a new payment.',
    file: 'src/engine/chain/networkDirectory.ts',
    find: 'higher(read.get(caip2), latestBlock)',
    replace: 'higher(undefined, latestBlock)',
    tests: ['engine/knownHeads'],
  },
  {
    harm: 'A transfer that is older than its payment would count.',
    file: 'src/engine/payments/fundsSeal.ts',
    find: ', ...older]',
    replace: ']',
    tests: ['engine/knownHeads'],
  },
];
