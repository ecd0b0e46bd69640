export type Provider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> };
export type Wallet = { readonly name: string; readonly icon: string | null; readonly provider: Provider };

/** The wallets in this browser, by the ID that each one announced. */
export const wallets = new Map<string, Wallet>();

export const hasWallets = (): boolean => wallets.size > 0;

export const ask = (provider: Provider, method: string, ...params: unknown[]): Promise<unknown> =>
  provider.request(params.length === 0 ? { method } : { method, params });
