import { keccak256, toHex } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { ChainRpc } from './chainRpc.ts';
import { type Part, type Spend, signNoise, signSpend } from './spend.ts';

/** More than blocks a reorg takes back, so that no two of them hang on each other by the nonce of their sender. */
const count = 200;
const balanceWei = '0x3635c9adc5dea00000000';

/** Accounts that pay. The nonce of each is the number of its transactions that stand. */
export type Senders = {
  fund(rpc: ChainRpc): Promise<void>;
  /** Reads the nonces anew. */
  refresh(rpc: ChainRpc): Promise<void>;
  /** Signs what goes into one block: the later ones of the list follow on the first. */
  sign(parts: readonly Part[]): Promise<Spend[]>;
  /** These do not stand any more. */
  takeBack(spends: readonly Spend[]): void;
  /** Whether this can be mined as it is. */
  isNext(spend: Spend): boolean;
  /** These stand again. */
  mined(spends: readonly Spend[]): void;
  noise(rpc: ChainRpc, data: Buffer): Promise<string>;
};

export const createSenders = (seed: string, chainId: number): Senders => {
  const accounts: PrivateKeyAccount[] = [];
  for (let at = 0; at <= count; at++) accounts.push(privateKeyToAccount(keccak256(toHex(`${seed} sender ${at}`))));
  const noisy = accounts.pop()!;
  const nonces = accounts.map(() => 0);
  let turn = 0;
  return {
    async fund(rpc) {
      await rpc.batch([...accounts, noisy].map(({ address }) => ['hardhat_setBalance', address, balanceWei]));
    },
    async refresh(rpc) {
      const counts = await rpc.batch(accounts.map(({ address }) => ['eth_getTransactionCount', address, 'latest']));
      for (const [at, nonce] of counts.entries()) nonces[at] = Number(nonce);
    },
    async sign(parts) {
      const sender = turn++ % count;
      const first = nonces[sender]!;
      return Promise.all(
        parts.map((part, at) => signSpend(accounts[sender]!, { chainId, sender, nonce: first + at }, part, keccak256)),
      );
    },
    takeBack(spends) {
      for (const { sender, nonce } of spends) nonces[sender] = Math.min(nonces[sender]!, nonce);
    },
    isNext: ({ sender, nonce }) => nonces[sender] === nonce,
    mined(spends) {
      for (const { sender, nonce } of spends) nonces[sender] = Math.max(nonces[sender]!, nonce + 1);
    },
    async noise(rpc, data) {
      const nonce = Number(await rpc.call('eth_getTransactionCount', noisy.address, 'latest'));
      return signNoise(noisy, { chainId, nonce }, data);
    },
  };
};
