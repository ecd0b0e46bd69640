import { FlorinError } from '../../core/errors.ts';
import { readChains } from '../../storage/chain/chains.ts';
import { insertRescan, type Rescan } from '../../storage/chain/rescans.ts';
import type { Database } from '../../storage/database.ts';

/** Records the operator's request to read blocks again. The process that reads the chain carries it out. */
export const requestRescan = async (
  db: Database,
  request: { caip2: string; from: number; to: number | null; address: string | null },
): Promise<Rescan> => {
  const { caip2, from, address } = request;
  const [chain] = await readChains(db, [caip2]);
  if (!chain || chain.latestNumber === null)
    throw new FlorinError('not_found', `Florin has not read a chain ${caip2}.`);
  const to = Math.min(request.to ?? chain.latestNumber, chain.latestNumber);
  if (request.to !== null && from > request.to)
    throw new FlorinError('invalid_request', '--from must not be above --to.', 'from');
  if (from > to) {
    const text = `Florin has read blocks of ${caip2} up to ${chain.latestNumber}. Choose a lower --from.`;
    throw new FlorinError('invalid_request', text, 'from');
  }
  return insertRescan(db, { caip2, from, to, address, reason: 'the operator asked for it' });
};
