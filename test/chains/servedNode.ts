import type { Abi, Hex } from 'viem';
import tokenArtefact from '../../contracts/artefacts/TestToken.json' with { type: 'json' };
import { mainnets, testnets } from '../../src/core/registry/backings.ts';
import { serveRpc } from '../../src/local/devchain/rpcServer.ts';
import { type EvmNode, startEvmNode } from './evmNode.ts';
import { placeFactory } from './placeFactory.ts';

const blockMs = 1_000;

/**
 * A stand-in for a public node: an EVM with the id of a real chain, tokens with the right decimals at their real
 * addresses, and one block per second. An operator has deployed the factory, unless that is what is missing.
 */
export const serveNode = async (
  chainId: number,
  { factory = true } = {},
): Promise<{ url: string; node: EvmNode; close(): Promise<void> }> => {
  const node = await startEvmNode(undefined, BigInt(chainId));
  if (factory) await placeFactory(node);
  const backing = [...Object.values(mainnets), ...Object.values(testnets)].find(each => each.chainId === chainId)!;
  const abi = tokenArtefact.abi as Abi;
  for (const { address, decimals, symbol, name } of backing.tokens) {
    const model = await node.deploy(abi, tokenArtefact.creationCode as Hex, [name, symbol, decimals]);
    await node.request('hardhat_setCode', address, await node.code(model));
  }
  const timer = setInterval(() => void node.request('evm_mine').catch(() => {}), blockMs);
  const server = await serveRpc(
    { request: async (method, params) => JSON.stringify(await node.answer(method, params)) },
    0,
  );
  const close = async (): Promise<void> => {
    clearInterval(timer);
    await server.close();
  };
  return { url: `http://127.0.0.1:${server.port}`, node, close };
};
