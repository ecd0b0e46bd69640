import type { Slug } from '../../../src/core/registry/backings.ts';

const names: Readonly<Record<Slug, string>> = {
  ethereum: 'Ethereum',
  polygon: 'Polygon',
  base: 'Base',
  arbitrum: 'Arbitrum One',
  optimism: 'OP Mainnet',
  bsc: 'BNB Smart Chain',
  avalanche: 'Avalanche C-Chain',
};

/** A network has one name on every page and in both environments, even if test mode uses another chain. */
export const networkName = (slug: string): string => (names as Readonly<Record<string, string>>)[slug] ?? slug;
