// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import { chains, type Fault, local, watch } from './fault.ts';

const reading: Fault[] = [
  {
    name: 'logs that the filter of the block does not explain are not missed',
    file: 'src/chains/evm/fetchBlocks.ts',
    find: ' || !explainsBloom(block, logs)',
    replace: '',
    tests: chains('followFaults'),
  },
  {
    name: 'logs that are cut off at the end of a block are not missed',
    file: 'src/chains/evm/fetchBlocks.ts',
    find: 'if (block.bloom.some(byte => byte !== 0)) await',
    replace: 'if (block.bloom.length === 0) await',
    tests: chains('followFaults'),
  },
  {
    name: 'the last block of a range is taken as it comes',
    file: 'src/chains/evm/fetchBlocks.ts',
    find: 'logs === null || block === last || missesEmitter',
    replace: 'logs === null || missesEmitter',
    tests: chains('followFaults'),
  },
  {
    name: 'an emitter that is silent in a range is not asked again',
    file: 'src/chains/evm/fetchBlocks.ts',
    find: ' || missesEmitter(block, emitters, own)',
    replace: '',
    tests: chains('followFaults'),
  },
  {
    name: 'the filter has half the bits',
    file: 'src/chains/evm/bloom.ts',
    find: '& 2047',
    replace: '& 1023',
    tests: chains('bloom'),
  },
  {
    name: 'one explained byte of a filter is enough',
    file: 'src/chains/evm/bloom.ts',
    find: 'header.every((byte, at)',
    replace: 'header.some((byte, at)',
    tests: chains('bloom'),
  },
  {
    name: 'blocks that are not each other’s children make a run',
    file: 'src/chains/linkage.ts',
    find: 'if (block.parentHash !== last.hash) return',
    replace: 'if (block.parentHash === block.hash) return',
    tests: ['test/engine/applyBlocks.test.ts'],
  },
  {
    name: 'a gap between blocks makes a run',
    file: 'src/chains/linkage.ts',
    find: 'if (block.number !== last.number + 1) return',
    replace: 'if (block.number <= last.number) return',
    tests: ['test/engine/applyBlocks.test.ts'],
  },
  {
    name: 'a node that is far behind is on another branch',
    file: 'src/chains/linkage.ts',
    find: "if (ours === null) return 'known';",
    replace: "if (ours === null) return 'fork';",
    tests: ['test/chains/linkage.test.ts'],
  },
];

const crediting: Fault[] = [
  {
    name: 'native coin of a failed transaction counts',
    file: 'src/chains/evm/movements.ts',
    find: 'if (!receipt.succeeded) return [];',
    replace: '',
    tests: chains('followMovements'),
  },
  {
    name: 'a log is enough to be final',
    file: 'src/chains/evm/movements.ts',
    find: 'verified: verified.has(transfer) && !disproved.has(transfer)',
    replace: 'verified: !disproved.has(transfer)',
    tests: chains('followMovements'),
  },
  {
    name: 'a large sum that receipts disprove is final',
    file: 'src/chains/evm/movements.ts',
    find: 'verified: verified.has(transfer) && !disproved.has(transfer)',
    replace: 'verified: verified.has(transfer)',
    tests: chains('followMovements'),
  },
  {
    name: 'tokens that are not listed count',
    file: 'src/chains/evm/movements.ts',
    find: 'listed.has(log.contract) ? readTransfer(log) : null',
    replace: 'readTransfer(log)',
    tests: chains('followMovements'),
  },
  {
    name: 'what is sent to oneself counts',
    file: 'src/chains/evm/movements.ts',
    find: ' || transfer.sender === transfer.recipient',
    replace: '',
    tests: chains('followMovements'),
  },
  {
    name: 'a transfer of nothing counts',
    file: 'src/chains/evm/movements.ts',
    find: 'transfer === null || transfer.amount === 0n ||',
    replace: 'transfer === null ||',
    tests: chains('followMovements'),
  },
  {
    name: 'a token of other decimals than listed is taken',
    file: 'src/chains/evm/inspectTokens.ts',
    find: 'return found === BigInt(decimals) ? null',
    replace: 'return found <= 255n ? null',
    tests: chains('followMovements'),
  },
];

const nodes: Fault[] = [
  {
    name: 'one node of two is enough to agree',
    file: 'src/chains/evm/agreement.ts',
    find: 'candidate)) >= quorum) return',
    replace: 'candidate)) >= quorum - 1) return',
    tests: chains('followNodes'),
  },
  {
    name: 'a node that cannot say has our block',
    file: 'src/chains/evm/agreement.ts',
    find: 'vouches(sighting, block).catch(() => false)',
    replace: 'vouches(sighting, block).catch(() => true)',
    tests: chains('agreement'),
  },
  {
    name: 'a node below a block vouches for it',
    file: 'src/chains/evm/agreement.ts',
    find: 'if (head.number < block.number) return false;',
    replace: 'if (head.number < block.number) return true;',
    tests: chains('followNodes'),
  },
  {
    name: 'one node alone says that a block is gone',
    file: 'src/chains/evm/agreement.ts',
    find: "return count(false, all) >= quorum ? 'gone'",
    replace: "return count(false, all) > 0 ? 'gone'",
    tests: chains('followNodes'),
  },
  {
    name: 'those that lag are not heard about a branch',
    file: 'src/chains/evm/agreement.ts',
    find: "if (count(true, all) > count(false, all)) return 'stands';",
    replace: '',
    tests: chains('agreement'),
  },
  {
    name: 'those that lag outvote those that do not',
    file: 'src/chains/evm/agreement.ts',
    find: "if (count(true, fresh) > 0 && count(true, fresh) >= count(false, fresh)) return 'stands';",
    replace: '',
    tests: chains('agreement'),
  },
  {
    name: 'a poll behind the cursor counts as caught up',
    file: 'src/chains/evm/follow.ts',
    find: 'caughtUpSince: isCaughtUp ? begunAt : null',
    replace: 'caughtUpSince: begunAt',
    tests: [...chains('follow'), ...watch('expiry')],
  },
  {
    name: 'a chain that makes no blocks lets time pass',
    file: 'src/chains/evm/follow.ts',
    find: ' && options.isCurrent(primary.head)',
    replace: '',
    tests: watch('expiry'),
  },
  {
    name: 'a reorg may go one block below finality',
    file: 'src/chains/evm/follow.ts',
    find: 'finalized !== null && stored.number < finalized)',
    replace: 'finalized !== null && stored.number < finalized - 1)',
    tests: chains('follow'),
  },
];

const localChain: Fault[] = [
  {
    name: 'a half-written line stays in the journal',
    file: 'src/local/devchain/journal.ts',
    find: 'await truncate(path, bytes);',
    replace: '',
    tests: local('devchainJournal'),
  },
  {
    name: 'a reverted block comes back at the next start',
    file: 'src/local/devchain/journal.ts',
    find: "if (record.kind === 'revert') records.length = record.keep;",
    replace: "if (record.kind === 'revert') records.length = Math.min(records.length, record.keep + 1);",
    tests: local('devchainJournal'),
  },
  {
    name: 'after a revert the journal counts on as before',
    file: 'src/local/devchain/journal.ts',
    find: 'length = keep;',
    replace: '',
    tests: local('devchainJournal'),
  },
  {
    name: 'blocks of the journal are not compared',
    file: 'src/local/devchain/chain.ts',
    find: 'if (block.hash !== record.hash) throw',
    replace: "if (block.hash === '') throw",
    tests: local('devchainJournal'),
  },
  {
    name: 'all local chains begin with the same block',
    file: 'src/local/devchain/provider.ts',
    find: '...(identity === null ? [] : [markOf(identity)]),',
    replace: '',
    tests: local('devchainJournal'),
  },
  {
    name: 'a second local chain is watched as the first',
    file: 'src/cli/startLocalChain.ts',
    find: 'if (await claim(db, chain)) return',
    replace: "if ((await claim(db, chain)) || chain.rpcUrl !== '') return",
    tests: watch('twoLocalChains'),
  },
];

export const chainFaults: readonly Fault[] = [...reading, ...crediting, ...nodes, ...localChain];
