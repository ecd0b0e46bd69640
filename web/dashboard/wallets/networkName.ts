const names: Readonly<Record<string, string>> = {
  ethereum: 'Ethereum',
  polygon: 'Polygon',
  base: 'Base',
  arbitrum: 'Arbitrum One',
  optimism: 'OP Mainnet',
  bsc: 'BNB Smart Chain',
  avalanche: 'Avalanche C-Chain',
};

export const networkName = (slug: string): string => names[slug] ?? slug;
