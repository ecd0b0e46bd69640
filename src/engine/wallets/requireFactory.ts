import type { FactoryState } from '../../core/chain.ts';
import type { Environment } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import type { NetworkDirectory } from '../chain/networkDirectory.ts';

type Place = { readonly environment: Environment; readonly slug: string; readonly caip2: string };

const reasonFor = (state: FactoryState | null, { environment, slug }: Place): string => {
  const named = `--environment ${environment} --network ${slug}`;
  if (state === 'absent') {
    return `The forwarder factory is not deployed on ${slug}, so money there could not be swept. Deploy it: florin factory deploy ${named}`;
  }
  if (state === 'different_code') {
    return `The contract at the address of the forwarder factory on ${slug} has different code, so money there could not be swept. Compare the nodes: florin factory check`;
  }
  return `Florin does not know yet whether the forwarder factory is deployed on ${slug}. Try again shortly, or check it: florin factory check`;
};

/**
 * Throws unless the chain has the factory that sweeps forwarders. Without it, money stays at the forwarders, and a call
 * to the empty address of the factory would succeed and do nothing.
 */
export const requireFactory = async (directory: NetworkDirectory, place: Place): Promise<void> => {
  const state = await directory.factoryOn(place.caip2);
  if (state !== 'present') throw new FlorinError('network_unavailable', reasonFor(state, place));
};
