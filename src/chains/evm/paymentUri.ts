/** EIP-681. Amounts are base units, so no wallet has to guess decimals. */
export const evmPaymentUri = (request: {
  chainId: number;
  contract: string | null;
  address: string;
  amount: bigint;
}): string =>
  request.contract === null
    ? `ethereum:${request.address}@${request.chainId}?value=${request.amount}`
    : `ethereum:${request.contract}@${request.chainId}/transfer?address=${request.address}&uint256=${request.amount}`;
