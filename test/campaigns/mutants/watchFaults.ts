// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import { engine, type Fault, storage, watch } from './fault.ts';

const applying: Fault[] = [
  {
    name: 'payments that a reorg takes funds from are not decided again',
    file: 'src/engine/applyBlocks.ts',
    find: 'const touched = [...gone, ...(await',
    replace: 'const touched = [...(await',
    tests: engine('applyBlocks'),
  },
  {
    name: 'blocks that do not follow on the cursor are written',
    file: 'src/engine/applyBlocks.ts',
    find: 'if (fault !== null) throw new Error(fault);',
    replace: "if (fault === '') throw new Error(fault);",
    tests: engine('applyBlocks'),
  },
  {
    name: 'a rollback may lead to a block that was never ours',
    file: 'src/engine/applyBlocks.ts',
    find: 'if (kept?.hash !== rollbackTo.hash) throw',
    replace: 'if (kept === null) throw',
    tests: engine('applyBlocks'),
  },
  {
    name: 'a rollback may lead below finality',
    file: 'src/engine/applyBlocks.ts',
    find: 'rollbackTo.number < (chain.finalizedNumber ?? -1)',
    replace: 'rollbackTo.number < -1',
    tests: engine('applyBlocks'),
  },
  {
    name: 'what the operator asked for is done again and again',
    file: 'src/engine/applyBlocks.ts',
    find: 'await clearRollback(tx, chain.caip2);',
    replace: '',
    tests: watch('halts'),
  },
  {
    name: 'a payment that the database refuses holds up its chain',
    file: 'src/engine/advanceWithin.ts',
    find: 'if (keys.length === 1) return [{ key: keys[0]!, error }];',
    replace: 'if (keys.length === 1) throw error;',
    tests: engine('applyBlocks'),
  },
  {
    name: 'after a fault half of the others are forgotten',
    file: 'src/engine/advanceWithin.ts',
    find: 'await advance(some.slice(middle));',
    replace: '',
    tests: engine('applyBlocks'),
  },
  {
    name: 'a payment that could not be decided is never tried again',
    file: 'src/engine/advanceWithin.ts',
    find: 'if (failed.length > 0) {',
    replace: 'if (failed.length > keys.length) {',
    tests: engine('applyBlocks'),
  },
];

const coins: Fault[] = [
  {
    name: 'what a balance showed on another branch comes back with its block',
    file: 'src/storage/blocks.ts',
    find: 'tx_hash is null and not canonical and not superseded`',
    replace: 'tx_hash is null and not canonical and superseded`',
    tests: engine('applyCoins'),
  },
  {
    name: 'coin of several blocks is found in the last of them',
    file: 'src/engine/findCoins.ts',
    find: "if (typeof gap === 'object') found = gap;",
    replace: "if (typeof gap === 'object' && gap.amount === found.amount) found = gap;",
    tests: engine('findCoins'),
  },
  {
    name: 'coin on record counts a block too early',
    file: 'src/engine/findCoins.ts',
    find: 'change.blockNumber <= number',
    replace: 'change.blockNumber <= number + 1',
    tests: engine('findCoins'),
  },
  {
    name: 'only the first coin of an address is found',
    file: 'src/engine/findCoins.ts',
    find: 'if (more <= 0n) break;',
    replace: 'if (more <= 0n || changes.length > payment.changes.length) break;',
    tests: engine('findCoins'),
  },
  {
    name: 'forwarded coin counts as if it had come',
    file: 'src/storage/coins.ts',
    find: 'select f.block_number, -f.amount',
    replace: 'select f.block_number, f.amount',
    tests: watch('forwarding'),
  },
  {
    name: 'coin is credited in a block that a reorg has taken',
    file: 'src/engine/applyCoins.ts',
    find: '?.hash === coin.blockHash) standing',
    replace: ' !== null) standing',
    tests: engine('applyCoins'),
  },
  {
    name: 'a block with coin in it may be forgotten',
    file: 'src/engine/applyCoins.ts',
    find: 'standing.map(({ blockHash }) => blockHash),',
    replace: '[],',
    tests: engine('applyCoins'),
  },
];

const leases: Fault[] = [
  {
    name: 'anybody may take a chain that is being read',
    file: 'src/storage/chains.ts',
    find: 'lease_until < clock_timestamp() or lease_holder = $2',
    replace: 'lease_until is not null or lease_holder = $2',
    tests: storage('chains'),
  },
  {
    name: 'each lease has the token of the one before',
    file: 'src/storage/chains.ts',
    find: 'fence = c.fence + 1',
    replace: 'fence = greatest(c.fence, 1)',
    tests: storage('chains'),
  },
  {
    name: 'a lease that has passed on still writes blocks',
    file: 'src/storage/chains.ts',
    find: 'where c.caip2 = $1 and c.fence = $2 for update',
    replace: 'where c.caip2 = $1 and c.fence >= $2 for update',
    tests: engine('applyBlocks'),
  },
  {
    name: 'a lease that has passed on can be renewed',
    file: 'src/storage/chains.ts',
    find: 'where c.caip2 = $1 and c.fence = $2 and c.lease_holder is not null',
    replace: 'where c.caip2 = $1 and c.fence >= $2 and c.lease_holder is not null',
    tests: storage('chains'),
  },
  {
    name: 'a lease that has passed on ends that of the next',
    file: 'src/storage/chains.ts',
    find: 'lease_holder = null, lease_until = null where caip2 = $1 and fence = $2',
    replace: 'lease_holder = null, lease_until = null where caip2 = $1 and fence >= $2',
    tests: storage('chains'),
  },
  {
    name: 'a poll that found less takes back how far the chain is read',
    file: 'src/storage/chains.ts',
    find: 'caught_up_at = greatest(caught_up_at, $6)',
    replace: 'caught_up_at = $6',
    tests: storage('chains'),
  },
  {
    name: 'a tag that nobody gave is the newest block',
    file: 'src/storage/chains.ts',
    find: '`case when ${tag}::bigint is not null then least(${tag}, ${height}) end`',
    replace: '`least(${tag}::bigint, ${height})`',
    tests: storage('chains'),
  },
  {
    name: 'a chain that goes on forgets where to roll back to',
    file: 'src/storage/chains.ts',
    find: 'halt_reason = null, rollback_to = $2',
    replace: 'halt_reason = null, rollback_to = nullif($2::bigint, $2::bigint)',
    tests: [...storage('chains'), ...watch('halts')],
  },
];

const records: Fault[] = [
  {
    name: 'a reorg takes the block that it forks from',
    file: 'src/storage/blocks.ts',
    find: 'set canonical = false where caip2 = $1 and number > $2 and canonical',
    replace: 'set canonical = false where caip2 = $1 and number >= $2 and canonical',
    tests: engine('applyBlocks'),
  },
  {
    name: 'a block that comes back after a reorg stays orphaned',
    file: 'src/storage/blocks.ts',
    find: 'do update set canonical = true, empty',
    replace: 'do update set canonical = old.canonical, empty',
    tests: engine('applyBlocks'),
  },
  {
    name: 'a block that is read again is as empty as it then looks',
    file: 'src/storage/blocks.ts',
    find: 'empty = old.empty and excluded.empty',
    replace: 'empty = excluded.empty',
    tests: engine('applyCoins'),
  },
  {
    name: 'one block less is kept than a reorg may reach',
    file: 'src/storage/blocks.ts',
    find: 'e.number < c.latest_number - $1',
    replace: 'e.number <= c.latest_number - $1',
    tests: storage('chains'),
  },
  {
    name: 'funds that are mined again are seen anew',
    file: 'src/storage/transfers.ts',
    find: 'least(clock_timestamp(), s.first_seen_at)',
    replace: 'clock_timestamp()',
    tests: engine('applyBlocks'),
  },
  {
    name: 'the right token on a wrong chain counts',
    file: 'src/storage/transfers.ts',
    find: 'p.caip2 <> $1 or p.contract is distinct from i.contract',
    replace: "($1 = '') or p.contract is distinct from i.contract",
    tests: watch('strays'),
  },
  {
    name: 'a number that no column holds stops the chain',
    file: 'src/storage/transfers.ts',
    find: 'amount <= mostUnits',
    replace: 'amount >= 0n',
    tests: watch('forwarding'),
  },
  {
    name: 'a completion that fell is remembered by the transfer',
    file: 'src/storage/transfers.ts',
    find: 'and not stray and (canonical and not superseded or settled))',
    replace: 'and not stray and canonical and not superseded)',
    tests: engine('applyBlocks'),
  },
];

const deciding: Fault[] = [
  {
    name: 'one block less than the depth is final',
    file: 'src/core/payment/finality.ts',
    find: 'Math.max(1, rule.depth ?? 1) - 1',
    replace: 'Math.max(1, rule.depth ?? 1) - 2',
    tests: ['test/core/payment'],
  },
  {
    name: 'nodes need not agree on what is final',
    file: 'src/core/payment/finality.ts',
    find: "return [byDepth, ...byTag, { frontier: 'agreed', number: block.number }];",
    replace: 'return [byDepth, ...byTag];',
    tests: ['test/core/payment'],
  },
  {
    name: 'the depth beside a tag is not asked for',
    file: 'src/core/payment/finality.ts',
    find: 'return [byDepth, ...byTag,',
    replace: 'return [...(byTag.length > 0 ? byTag : [byDepth]),',
    tests: ['test/core/payment'],
  },
  {
    name: 'a payment waits for its highest block',
    file: 'src/core/payment/tally.ts',
    find: 'block.number < lowest.number ? block : lowest',
    replace: 'block.number > lowest.number ? block : lowest',
    tests: ['test/core/payment'],
  },
  {
    name: 'what is not verified may be final',
    file: 'src/core/payment/tally.ts',
    find: 'verified && isFinal(block, rule, facts.chain)',
    replace: 'isFinal(block, rule, facts.chain)',
    tests: ['test/core/payment'],
  },
  {
    name: 'a payment with open funds waits for nothing',
    file: 'src/core/payment/decide.ts',
    find: 'wakeBlock: sums.firstOpenBlock && awaitedFor(',
    replace:
      'wakeBlock: sums.firstOpenBlock && sums.received > sums.target ? null : sums.firstOpenBlock && awaitedFor(',
    tests: ['test/core/payment'],
  },
];

export const watchFaults: readonly Fault[] = [...applying, ...coins, ...leases, ...records, ...deciding];
