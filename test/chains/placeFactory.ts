import { create2DeployerSetup, factoryDeployment } from '../../src/chains/evm/deployments.ts';
import type { EvmNode } from './evmNode.ts';

/** The CREATE2 deployer, as every public network has it. */
export const placeDeployer = async (node: EvmNode): Promise<void> => {
  const { signer, fundingWei, rawTransaction } = create2DeployerSetup;
  await node.must({ to: signer, value: fundingWei });
  await node.sendRaw(rawTransaction);
};

/** The forwarder factory, as an operator deploys it before going live. */
export const placeFactory = async (node: EvmNode): Promise<void> => {
  await placeDeployer(node);
  await node.must(factoryDeployment);
};
