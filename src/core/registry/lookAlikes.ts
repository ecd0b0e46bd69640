export type LookAlike = {
  readonly symbol: string;
  readonly name: string;
  readonly address: string;
  readonly decimals: number;
};

const token = (symbol: string, name: string, address: string, decimals: number): LookAlike => ({
  symbol,
  name,
  address,
  decimals,
});

/**
 * Bridged and wrapped tokens that people send by mistake for a listed one, by chain id. Each was found in the lists
 * named beside it: U is Uniswap's default token list, X is Across' constants, B is the resources of Avalanche's bridge.
 */
export const lookAlikes: Readonly<Record<number, readonly LookAlike[]>> = {
  // Ethereum
  1: [token('WETH', 'Wrapped Ether', '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', 18)], // U, X
  // Polygon
  137: [
    token('USDC.e', 'Bridged USDC', '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', 6), // U, X
    token('WPOL', 'Wrapped POL', '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270', 18), // U (as WMATIC), X
    token('WETH', 'Wrapped Ether', '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619', 18), // U, X
  ],
  // Base
  8453: [
    token('USDbC', 'Bridged USDC', '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', 6), // U, X
    token('WETH', 'Wrapped Ether', '0x4200000000000000000000000000000000000006', 18), // U, X
  ],
  // Arbitrum
  42161: [
    token('USDC.e', 'Bridged USDC', '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', 6), // U, X
    token('WETH', 'Wrapped Ether', '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1', 18), // X
  ],
  // OP Mainnet
  10: [
    token('USDC.e', 'Bridged USDC', '0x7F5c764cBc14f9669B88837ca1490cCa17c31607', 6), // U, X
    token('WETH', 'Wrapped Ether', '0x4200000000000000000000000000000000000006', 18), // X
  ],
  // BNB Smart Chain
  56: [token('WBNB', 'Wrapped BNB', '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c', 18)], // U, X
  // Avalanche
  43114: [
    token('USDC.e', 'Bridged USDC', '0xA7D7079b0FEaD91F3e65f86E8915Cb59c1a4C664', 6), // B
    token('USDT.e', 'Bridged Tether USD', '0xc7198437980c041c805A1EDcbA50c1Ce5db95118', 6), // B
    token('DAI.e', 'Bridged Dai', '0xd586E7F844cEa2F87f50152665BCbc2C279D8d70', 18), // U, B
    token('WAVAX', 'Wrapped AVAX', '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7', 18), // U, X
  ],
  // Base Sepolia
  84532: [token('WETH', 'Wrapped Ether', '0x4200000000000000000000000000000000000006', 18)], // X
  // Arbitrum Sepolia
  421614: [token('WETH', 'Wrapped Ether', '0x980B62Da83eFf3D4576C647993b0c1D7faf17c73', 18)], // X
  // OP Sepolia
  11155420: [token('WETH', 'Wrapped Ether', '0x4200000000000000000000000000000000000006', 18)], // X
};
