import { keccak256Hex } from '../../chains/evm/keccak.ts';
import { encodeRlp, type Rlp, rlpBytes, rlpNumber } from '../../chains/evm/rlp.ts';

type AccessList = readonly { readonly address: string; readonly storageKeys: readonly string[] }[];

type RpcTransaction = Readonly<Record<string, string>> & { readonly accessList?: AccessList };

const accessList = (list: AccessList = []): Rlp =>
  list.map(({ address, storageKeys }) => [rlpBytes(address), storageKeys.map(rlpBytes)]);

/** The fields that are signed, in their order, with the signature. */
const fieldsOf = (transaction: RpcTransaction, type: number): Rlp => {
  const number = (name: string): Uint8Array => rlpNumber(BigInt(transaction[name] ?? '0x0'));
  const to = transaction.to ? rlpBytes(transaction.to) : new Uint8Array();
  const call = [number('gas'), to, number('value'), rlpBytes(transaction.input ?? '0x')];
  const signature = [number('r'), number('s')];
  if (type === 0) return [number('nonce'), number('gasPrice'), ...call, number('v'), ...signature];
  const fees = type === 1 ? [number('gasPrice')] : [number('maxPriorityFeePerGas'), number('maxFeePerGas')];
  const parity = number(transaction.yParity === undefined ? 'v' : 'yParity');
  return [
    number('chainId'),
    number('nonce'),
    ...fees,
    ...call,
    accessList(transaction.accessList),
    parity,
    ...signature,
  ];
};

/** The bytes of a signed transaction, from what a node tells of it. They are right when they have its hash. */
export const rawTransaction = (value: unknown): string => {
  const transaction = value as RpcTransaction;
  const type = Number(transaction.type ?? '0x0');
  const fields = encodeRlp(fieldsOf(transaction, type));
  const bytes = type === 0 ? fields : Buffer.concat([Buffer.from([type]), fields]);
  if (`0x${keccak256Hex(bytes)}` !== transaction.hash) {
    throw new Error('the dev chain cannot record a transaction of this kind');
  }
  return `0x${Buffer.from(bytes).toString('hex')}`;
};
