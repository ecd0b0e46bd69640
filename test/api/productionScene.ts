import { startTestFlorin } from '../support/florin.ts';
import { until } from '../support/until.ts';
import { paymentCalls } from './paymentCalls.ts';
import { startRpcNode } from './rpcNode.ts';

export type ProductionScene = Awaited<ReturnType<typeof startProductionScene>>;

export const treasury = '0x00000000000000000000000000000000DeaDBeef';

type Options = Pick<NonNullable<Parameters<typeof startTestFlorin>[0]>, 'live'> & { alsoOnNode?: readonly string[] };

/** A Florin whose production ethereum is operational, on a node of chain 1. Other networks may use the node too. */
export const startProductionScene = async ({ live, alsoOnNode = [] }: Options = {}) => {
  const node = await startRpcNode(1);
  const networks = ['ethereum', ...alsoOnNode].map(network => [network, { rpcUrls: [node.url] }]);
  const scene = await startTestFlorin({
    configFile: { networks: { production: Object.fromEntries(networks) } },
    ...(live && { live }),
  });
  const account = await scene.account();
  await until(
    () => scene.client.call('GET', '/v1/networks/ethereum', { environment: 'production' }),
    answer => answer.json.status === 'operational',
  );
  return {
    node,
    scene,
    account,
    calls: paymentCalls(scene, account, 'production'),
  };
};
