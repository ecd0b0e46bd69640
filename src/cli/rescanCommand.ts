import { type Command, InvalidArgumentError } from 'commander';
import { parseEvmAddress } from '../chains/evm/address.ts';
import { requestRescan } from '../engine/chain/requestRescan.ts';
import { type Rescan, readRescan } from '../storage/chain/rescans.ts';
import { type Common, common, print, withAdmin } from './commands.ts';
import { waitForReader } from './waitForReader.ts';

export const height = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a block number.');
  return Number(text);
};

const address = (text: string): string => {
  const parsed = parseEvmAddress(text);
  if (parsed === null) throw new InvalidArgumentError('It must be an address, with a correct checksum if it has one.');
  return parsed;
};

const progressOf = ({ fromNumber, toNumber, nextNumber, found, fault }: Rescan): string => {
  const read = nextNumber === null || fromNumber === null ? 0 : nextNumber - fromNumber;
  const all = fromNumber === null ? '?' : toNumber - fromNumber + 1;
  return `${read} of ${all} blocks read, ${found} transfers found${fault === null ? '' : `. ${fault}`}`;
};

type Options = Common & { from: number; to?: number; address?: string };

/** Reads blocks again, beside the running watcher. */
export const addRescanCommand = (chain: Command): void => {
  common(
    chain
      .command('rescan')
      .description('Read blocks again and credit transfers that were missed. What is on record does not change.'),
  )
    .argument('<caip2>', 'Chain, for example eip155:1.')
    .requiredOption('--from <number>', 'First block to read.', height)
    .option('--to <number>', 'Last block to read; by default the last block that was read.', height)
    .option('--address <address>', 'Credit only this address.', address)
    .action((caip2: string, options: Options) =>
      withAdmin(options, async ({ db }) => {
        const { from, to = null, address: only = null } = options;
        const asked = await requestRescan(db, { caip2, from, to, address: only });
        const look = async () => {
          const rescan = (await readRescan(db, asked.id))!;
          return rescan.finishedAt === null ? { progress: progressOf(rescan) } : { done: rescan };
        };
        const done = await waitForReader(db, caip2, look, text => {
          if (!options.json) console.error(text);
        });
        const { fromNumber, toNumber, found, requestedAt, finishedAt } = done;
        const report = { caip2, from: fromNumber, to: toNumber, address: only, found, requestedAt, finishedAt };
        const blocks = toNumber - fromNumber! + 1;
        print(options, report, `${blocks} blocks of ${caip2} were read again. ${found} transfers had been missed.`);
      }),
    );
};
