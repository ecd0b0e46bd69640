// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import type { Fault } from './fault.ts';

const finality: readonly Fault[] = [
  {
    harm: 'One node alone would say what is final where two are asked for.',
    file: 'src/chains/evm/agreement.ts',
    find: '>= quorum) return',
    replace: '>= quorum - 1) return',
    tests: ['chains/followNodes'],
  },
  {
    harm: 'A block of another branch would count as final.',
    file: 'src/chains/evm/agreement.ts',
    find: 'if (ours !== null && ours.hash !== tagged.hash) return null;',
    replace: '',
    tests: ['chains/agreement'],
  },
  {
    harm: 'One node alone could undo a block and reverse its payments.',
    file: 'src/chains/evm/agreement.ts',
    find: "count('theirs', all) >= quorum",
    replace: "count('theirs', all) > 0",
    tests: ['chains/agreement'],
  },
  {
    harm: 'A payment would expire although its block has not been read.',
    file: 'src/chains/evm/follow.ts',
    find: 'isCaughtUp ? options.readUpTo(primary.head, startedAt) : null',
    replace: 'options.readUpTo(primary.head, startedAt)',
    tests: ['chains/follow'],
  },
  {
    harm: 'A reorg could undo a block below the finalized one.',
    file: 'src/chains/evm/findFork.ts',
    find: 'stored.number >= finalized)',
    replace: 'stored.number >= finalized - 1)',
    tests: ['chains/followForged'],
  },
  {
    harm: 'During an ordinary reorg, one node could take back blocks that all others have.',
    file: 'src/chains/evm/follow.ts',
    find: "if (lowest === 'stands') throw onAnotherBranch();",
    replace: '',
    tests: ['chains/followBranches'],
  },
  {
    harm: 'Two nodes that lie in different ways could halt a chain together.',
    file: 'src/chains/evm/agreement.ts',
    find: "return hash === theirs ? 'theirs' : null;",
    replace: "return 'theirs';",
    tests: ['chains/agreement'],
  },
];

const reorgs: readonly Fault[] = [
  {
    harm: 'Blocks would be written that do not follow the last one.',
    file: 'src/engine/chain/applyBlocks.ts',
    find: 'if (fault !== null)',
    replace: "if (fault === '')",
    tests: ['engine/applyBlocks'],
  },
  {
    harm: 'A payment would stay paid after a reorg took its funds.',
    file: 'src/engine/chain/applyBlocks.ts',
    find: '[...gone, ...touched, ...reached]',
    replace: '[...touched, ...reached]',
    tests: ['engine/applyBlocks'],
  },
  {
    harm: 'Funds that were swept before they were found would be swept again.',
    file: 'src/engine/chain/applyReread.ts',
    find: 'touched.filter(isSettled)',
    replace: '[]',
    tests: ['engine/applyReread'],
  },
  {
    harm: 'A payment that the database refuses would stop its chain.',
    file: 'src/engine/payments/recordAndAdvance.ts',
    find: 'return run(advanceWithoutRefused);',
    replace: 'throw error;',
    tests: ['engine/applyBlocks'],
  },
  {
    harm: 'A rollback below the finalized block would be written.',
    file: 'src/engine/chain/applyBlocks.ts',
    find: '(chain.finalizedNumber ?? -1)',
    replace: '-1',
    tests: ['engine/applyBlocks'],
  },
  {
    harm: 'A process that lost its lease would go on writing blocks.',
    file: 'src/storage/chain/chains.ts',
    find: 'c.fence = $2 for update',
    replace: 'c.fence >= $2 for update',
    tests: ['engine/applyBlocks'],
  },
  {
    harm: 'Coin would be credited in a block that a reorg removed.',
    file: 'src/engine/chain/ourBlocks.ts',
    find: ': stored === hash',
    replace: ': true',
    tests: ['engine/applyCoins'],
  },
  {
    harm: 'A payment would expire with funds on its address that a node left out.',
    file: 'src/core/payment/deriveState.ts',
    find: 'isAddressRead(facts) ? 0 : unreadHoldMs',
    replace: '0',
    tests: ['core/payment/histories'],
  },
  {
    harm: 'A payment that a lagging node shows after its time would expire.',
    file: 'src/chains/evm/evmDriver.ts',
    find: 'isQuiet ? startedAt : earlier(',
    replace: 'true ? startedAt : earlier(',
    tests: ['watch/expiry'],
  },
  {
    harm: 'Coin that an address held before its payment would be credited.',
    file: 'src/storage/chain/coins.ts',
    find: 'select 0, a.amount where',
    replace: 'select 0, a.amount where false and',
    tests: ['watch/contractCoin'],
  },
  {
    harm: 'Funds that an address received before its payment would be credited by a watcher that is behind.',
    file: 'src/storage/chain/transfers.ts',
    find: '      where ${isNotOlder}\n',
    replace: '',
    tests: ['engine/applyBlocks'],
  },
  {
    harm: "A payer's transfer in a block of a sequencer that catches up would not count.",
    file: 'src/storage/chain/transfers.ts',
    find: ' or i.block_number > p.head_number',
    replace: '',
    tests: ['engine/applyBlocks'],
  },
  {
    harm: 'One node could have coin credited that is older than its payment.',
    file: 'src/engine/chain/findCoins.ts',
    find: '{ ...options, balances: options.olderBalances }',
    replace: 'options',
    tests: ['engine/findCoins'],
  },
  {
    harm: 'Coin that came between the baseline of an address and its payment would be credited.',
    file: 'src/engine/chain/findCoins.ts',
    find: "payment.walletKind === 'forwarder' || number === 0",
    replace: 'true',
    tests: ['engine/findCoins'],
  },
];

export const chainFaults: readonly Fault[] = [...finality, ...reorgs];
