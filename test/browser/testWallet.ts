import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

type Call = { readonly method: string; readonly params?: readonly unknown[] };
type Outcome = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

export type TestWallet = {
  readonly calls: Call[];
  /** What it was asked, by name, without the looking around. */
  asked(): string[];
  /** The chain it is on; it starts on one that is not the payment's. */
  chainId: number;
  /** Chains that it can switch to. */
  readonly known: Set<number>;
  /** Methods that its owner refuses. */
  readonly refused: Set<string>;
  /** Methods that it fails at, in its own way. */
  readonly broken: Set<string>;
  /** Methods that it does not answer, until it does. */
  readonly silent: Set<string>;
  answerSilent(): void;
  /** It says that it has switched, and has not. */
  liesAboutSwitching: boolean;
  /** Whose money it holds; the chain's rich account unless a test says otherwise. */
  account: string | null;
  /** Puts it into a page, before it is opened. */
  install(page: Page): Promise<void>;
};

const localChainId = 31337;
const looking = new Set(['eth_chainId', 'eth_getBalance', 'eth_call', 'eth_getTransactionReceipt']);

class WalletError extends Error {
  readonly code: number;
  constructor(code: number) {
    super('said by the wallet, for developers');
    this.code = code;
  }
}

const announcer = fileURLToPath(new URL('page/announceWallet.js', import.meta.url));

/** A wallet in the browser whose transactions are real ones of the local chain. */
export const createTestWallet = (ask: (method: string, params: readonly unknown[]) => Promise<unknown>): TestWallet => {
  const held: (() => void)[] = [];
  const perform = async ({ method, params = [] }: Call): Promise<unknown> => {
    if (wallet.silent.has(method)) await new Promise<void>(resolve => void held.push(resolve));
    if (wallet.refused.has(method)) throw new WalletError(4001);
    if (wallet.broken.has(method)) throw new WalletError(-32603);
    const [first] = params as [{ chainId?: string } | undefined];
    switch (method) {
      case 'eth_requestAccounts':
        wallet.account ??= ((await ask('eth_accounts', [])) as string[])[0]!;
        return [wallet.account];
      case 'eth_chainId':
        return `0x${wallet.chainId.toString(16)}`;
      case 'wallet_switchEthereumChain':
        if (wallet.liesAboutSwitching) return null;
        if (!wallet.known.has(Number(first?.chainId))) throw new WalletError(4902);
        wallet.chainId = Number(first?.chainId);
        return null;
      case 'wallet_addEthereumChain':
        wallet.known.add(Number(first?.chainId));
        return null;
      default:
        if (wallet.chainId !== localChainId) throw new WalletError(4901);
        return ask(method, params);
    }
  };
  const answer = async (call: Call): Promise<Outcome> => {
    wallet.calls.push(call);
    try {
      return { result: await perform(call) };
    } catch (error) {
      const code = error instanceof WalletError ? error.code : -32000;
      return { error: { code, message: (error as Error).message } };
    }
  };
  const wallet: TestWallet = {
    calls: [],
    asked: () => wallet.calls.map(({ method }) => method).filter(method => !looking.has(method)),
    chainId: 1,
    known: new Set([1, localChainId]),
    refused: new Set(),
    broken: new Set(),
    silent: new Set(),
    answerSilent() {
      for (const release of held.splice(0)) release();
    },
    liesAboutSwitching: false,
    account: null,
    async install(page) {
      await page.exposeFunction('askWallet', answer);
      await page.addInitScript({ path: announcer });
    },
  };
  return wallet;
};
