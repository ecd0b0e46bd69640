import { keccak256Hex } from '../../chains/evm/keccak.ts';
import { encodeRlp, type Rlp, rlpBytes, rlpNumber } from '../../chains/evm/rlp.ts';

type AccessList = readonly { readonly address: string; readonly storageKeys: readonly string[] }[];

type RpcTransaction = Readonly<Record<string, string>> & { readonly accessList?: AccessList };

const accessList = (list: AccessList = []): Rlp =>
  list.map(({ address, storageKeys }) => [rlpBytes(address), storageKeys.map(rlpBytes)]);

/** The signed fields in order, followed by the signature. */
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

/** Rebuilds the bytes of a signed transaction from a node's description. The hash proves that they are right. */
export const rawTransaction = (value: unknown): string => {
  const transaction = value as RpcTransaction;
  const type = Number(transaction.type ?? '0x0');
  const fields = encodeRlp(fieldsOf(transaction, type));
  const bytes = type === 0 ? fields : Buffer.concat([Buffer.from([type]), fields]);
  if (`0x${keccak256Hex(bytes)}` !== transaction.hash) {
    throw new Error('the dev chain cannot record transactions of this type');
  }
  return `0x${Buffer.from(bytes).toString('hex')}`;
};
