import { expect, test } from 'vitest';
import { lookAlikes } from '../../src/core/registry/lookAlikes.ts';
import { resolveNetworks } from '../../src/core/registry/networks.ts';
import { createNetworkDirectory } from '../../src/engine/chain/networkDirectory.ts';
import { tokenText } from '../../src/engine/payments/tokenText.ts';
import { startTestFlorin } from '../support/florin.ts';

test('an amount names its token, look-alikes too, and shows the contract of any other', async () => {
  const { admin } = await startTestFlorin();
  const production = resolveNetworks({ environment: 'production', configured: {}, devChain: null });
  const networks = createNetworkDirectory(admin.db, production, () => 0);
  const text = (contract: string | null, amount: string) =>
    tokenText({ networks }, { caip2: 'eip155:8453', contract, amount });
  const bridged = lookAlikes[8453]!.find(({ symbol }) => symbol === 'USDbC')!.address;
  expect(text(bridged, '-2500000')).toEqual({ amount: '-2.50 USDbC', network: 'Base' });
  expect(text(null, '1000000000000000000')).toEqual({ amount: '1.00 ETH', network: 'Base' });
  const unknown = '0x00000000000000000000000000000000DeaDBeef';
  expect(text(unknown, '7')).toEqual({ amount: `7 base units of ${unknown}`, network: 'Base' });
});
