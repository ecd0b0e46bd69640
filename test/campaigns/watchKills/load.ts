import type { Api } from '../chaos/api.ts';
import type { Random } from '../fuzz/random.ts';
import type { ChainRpc } from '../sim/chainRpc.ts';
import type { Customers } from '../sim/customers.ts';
import type { World } from '../sim/world.ts';

export type Load = {
  readonly api: Api;
  readonly rpc: ChainRpc;
  readonly world: World;
  readonly customers: Customers;
  readonly random: Random;
  /** Settles when the watcher stands on the head. */
  readUp(): Promise<void>;
};

export type LoadTally = { rounds: number; reorgs: number };

const deepestReorg = 8;

/** Makes payments, pays them and takes blocks back, until it is told to stop or the service is gone. */
export const drive = async (load: Load, tally: LoadTally, signal: AbortSignal): Promise<void> => {
  const { api, rpc, world, customers, random } = load;
  try {
    while (!signal.aborted) {
      const round = tally.rounds++;
      const height = await world.headOf(rpc);
      await Promise.all([1, 2].map(() => customers.create(api, round, height)));
      await world.mine(rpc, [...customers.orders(round, false), null]);
      if (random.next() < 0.5) continue;
      // A branch that the watcher has not read yet cannot be taken from it.
      if (random.next() < 0.7) await load.readUp();
      if ((await world.reorganise(rpc, 1 + random.below(deepestReorg), false)) !== null) tally.reorgs += 1;
    }
  } catch {
    // The service was killed; the campaign knows.
  }
};
