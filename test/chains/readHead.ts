import { callRpc, RpcFault } from '../../src/chains/evm/rpc.ts';

export type ChainHead = {
  readonly number: bigint;
  readonly hash: string;
  readonly timestamp: number;
  readonly chainId: number;
};

export const readHead = async (rpcUrl: string, signal?: AbortSignal): Promise<ChainHead> => {
  const options = signal === undefined ? {} : { signal };
  const [chainId, block] = await Promise.all([
    callRpc(rpcUrl, 'eth_chainId', [], options),
    callRpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false], options),
  ]);
  if (typeof block !== 'object' || block === null) throw malformed();
  const { number, hash, timestamp } = block as Record<string, unknown>;
  if (typeof hash !== 'string' || !/^0x[0-9a-f]{64}$/i.test(hash)) throw malformed();
  return {
    number: quantity(number),
    hash: hash.toLowerCase(),
    timestamp: smallQuantity(timestamp),
    chainId: smallQuantity(chainId),
  };
};

const malformed = (): RpcFault =>
  new RpcFault('malformed', undefined, 'The node sent its newest block in a wrong format.');

const quantity = (value: unknown): bigint => {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw malformed();
  return BigInt(value);
};

const smallQuantity = (value: unknown): number => {
  const number = Number(quantity(value));
  if (!Number.isSafeInteger(number)) throw malformed();
  return number;
};
