import { keccak256Hex } from './keccak.ts';
import { callRpc } from './rpc.ts';

/** Pays with test money on the local chain. */
export type DevPayer = {
  /** Sends a test token, or native coin if `token` is null. Returns the transaction hash once it is mined. */
  pay(payment: { readonly to: string; readonly token: string | null; readonly amount: bigint }): Promise<string>;
  /** Re-mines the chain from that transaction on, without it. */
  undo(txHash: string): Promise<void>;
};

const selector = (signature: string): string => `0x${keccak256Hex(Buffer.from(signature)).slice(0, 8)}`;
const [balanceOf, mint, transfer] = ['balanceOf(address)', 'mint(address,uint256)', 'transfer(address,uint256)'].map(
  selector,
) as [string, string, string];

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const hex = (value: bigint): string => `0x${value.toString(16)}`;

export const createDevPayer = (rpcUrl: string): DevPayer => {
  const call = (method: string, ...params: unknown[]): Promise<unknown> => callRpc(rpcUrl, method, params);

  const send = async (transaction: object): Promise<string> => {
    const hash = await call('eth_sendTransaction', transaction);
    const receipt = (await call('eth_getTransactionReceipt', hash)) as { status: string } | null;
    if (receipt?.status !== '0x1') throw new Error('a transaction on the local chain failed');
    return String(hash);
  };

  /** Mints test tokens on demand. */
  const fund = async (from: string, token: string, amount: bigint): Promise<void> => {
    const balance = BigInt(
      String(await call('eth_call', { to: token, data: balanceOf + word(BigInt(from)) }, 'latest')),
    );
    if (balance < amount) await send({ from, to: token, data: mint + word(BigInt(from)) + word(amount * 1000n) });
  };

  return {
    async pay({ to, token, amount }) {
      const [from] = (await call('eth_accounts')) as [string];
      if (token === null) return send({ from, to, value: hex(amount) });
      await fund(from, token, amount);
      return send({ from, to: token, data: transfer + word(BigInt(to)) + word(amount) });
    },
    async undo(txHash) {
      await call('florin_undo', txHash);
    },
  };
};
