import { expect, test } from 'vitest';
import { type LedgerFlow, ledgerAccounts, ledgerBalances } from '../../src/core/ledger.ts';

const coin = { accountId: 'acc_1', environment: 'sandbox', caip2: 'eip155:1', contract: null } as const;
const flow = (
  source: LedgerFlow['source'],
  destination: LedgerFlow['destination'],
  amount: bigint,
  token: object = coin,
): LedgerFlow => ({ ...coin, ...token, source, destination, amount });

test('balances are what entered minus what left, and add up to zero', () => {
  const [token] = ledgerBalances([
    flow('received', 'forwarders', 70n),
    flow('stray', 'forwarders', 5n),
    flow('found', 'forwarders', 3n),
    flow('corrected', 'forwarders', -2n),
    flow('forwarders', 'treasury', 60n),
    // Of an extended public key: nothing is swept there.
    flow('received', 'treasury', 8n),
  ]);
  expect(token).toEqual({
    ...coin,
    balances: { received: -78n, stray: -5n, found: -3n, corrected: 2n, forwarders: 16n, treasury: 68n },
    swept: 60n,
  });
  expect(ledgerAccounts.reduce((sum, account) => sum + token!.balances[account], 0n)).toBe(0n);
});

test.each([
  { accountId: 'acc_2' },
  { environment: 'production' },
  { caip2: 'eip155:10' },
  { contract: '0x1' },
] as const)('tokens that differ in %o are added up apart', other => {
  const balances = ledgerBalances([
    flow('received', 'forwarders', 1n),
    flow('received', 'forwarders', 2n, other),
    flow('received', 'forwarders', 4n),
  ]);
  expect(balances.map(each => each.balances.forwarders)).toEqual([5n, 2n]);
  expect(balances[1]).toMatchObject({ ...coin, ...other });
});

test('names that run into each other are two tokens', () => {
  const one = { accountId: 'a', caip2: 'b1' };
  const other = { accountId: 'a', caip2: 'b', contract: '1' };
  expect(ledgerBalances([flow('received', 'forwarders', 1n, one), flow('received', 'forwarders', 1n, other)])).toHaveLength(2); // biome-ignore format: one call
});
