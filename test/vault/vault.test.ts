import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Environment } from '../../src/core/environment.ts';
import { framed, framedText } from '../../src/vault/framing.ts';
import { masterKeyOf } from '../../src/vault/masterKey.ts';
import { createVault, type PaymentSeal, SealBroken, type WalletSeal } from '../../src/vault/vault.ts';

const vault = createVault(masterKeyOf(Buffer.alloc(32, 1)));
const otherVault = createVault(masterKeyOf(Buffer.alloc(32, 2)));

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const environment = fc.constantFrom<Environment>('production', 'sandbox');
const payment: fc.Arbitrary<PaymentSeal> = fc.record({
  id: text,
  accountId: text,
  environment,
  caip2: text,
  contract: fc.option(text),
  amount: fc.bigInt({ min: 0n, max: 2n ** 256n }),
  decimals: fc.nat({ max: 36 }),
  currency: text,
  network: text,
  walletKind: text,
  treasury: text,
  index: fc.bigInt({ min: 0n, max: 2n ** 63n }),
  address: text,
});
const wallet: fc.Arbitrary<WalletSeal> = fc.record({
  accountId: text,
  environment,
  network: text,
  kind: text,
  destination: text,
});

describe('MACs', () => {
  test('a payment verifies, and with any one field of another payment it does not', () => {
    fc.assert(
      fc.property(payment, payment, (mine, other) => {
        const mac = vault.paymentMac(mine);
        expect(vault.verifyPaymentMac({ ...mine }, mac)).toBe(true);
        for (const field of Object.keys(mine) as (keyof PaymentSeal)[]) {
          if (mine[field] === other[field]) continue;
          expect(vault.verifyPaymentMac({ ...mine, [field]: other[field] }, mac)).toBe(false);
        }
        expect(otherVault.verifyPaymentMac(mine, mac)).toBe(false);
      }),
    );
  });

  test('text moved from one field to the next does not verify', () => {
    fc.assert(
      fc.property(payment, fc.string({ minLength: 1 }), (mine, moved) => {
        const mac = vault.paymentMac({ ...mine, id: mine.id + moved });
        expect(vault.verifyPaymentMac({ ...mine, accountId: moved + mine.accountId }, mac)).toBe(false);
      }),
    );
  });

  test('a changed, shortened or missing MAC does not verify', () => {
    fc.assert(
      fc.property(payment, fc.nat(31), fc.integer({ min: 1, max: 255 }), (mine, position, change) => {
        const mac = vault.paymentMac(mine);
        expect(vault.verifyPaymentMac(mine, mac.subarray(0, 31))).toBe(false);
        expect(vault.verifyPaymentMac(mine, Buffer.alloc(0))).toBe(false);
        mac[position]! ^= change;
        expect(vault.verifyPaymentMac(mine, mac)).toBe(false);
      }),
    );
  });

  test('a wallet verifies, and with any one field of another wallet it does not', () => {
    fc.assert(
      fc.property(wallet, wallet, (mine, other) => {
        const version = { ...mine, version: 1, takesEffectAtMs: null };
        const sealed = vault.walletVersionMac(version);
        expect(vault.verifyWalletVersionMac(version, sealed)).toBe(true);
        for (const change of [{ version: 2 }, { takesEffectAtMs: 0 }, { destination: `${mine.destination}0` }])
          expect(vault.verifyWalletVersionMac({ ...version, ...change }, sealed)).toBe(false);
        const mac = vault.walletMac(mine);
        expect(vault.verifyWalletMac({ ...mine }, mac)).toBe(true);
        for (const field of Object.keys(mine) as (keyof WalletSeal)[]) {
          if (mine[field] === other[field]) continue;
          expect(vault.verifyWalletMac({ ...mine, [field]: other[field] }, mac)).toBe(false);
        }
      }),
    );
  });
});

test('a token to simulate with is good for its payment and key alone', () => {
  const token = vault.simulateToken('pay_1');
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(vault.simulateToken('pay_1')).toBe(token);
  expect(vault.verifySimulateToken('pay_1', token)).toBe(true);
  expect(vault.verifySimulateToken('pay_2', token)).toBe(false);
  expect(otherVault.verifySimulateToken('pay_1', token)).toBe(false);
  for (const wrong of ['', token.slice(1), `${token}=`, `${token} `, token.toLowerCase(), 'ü'.repeat(43)])
    expect(vault.verifySimulateToken('pay_1', wrong), wrong).toBe(false);
});

test('framing gives different lists different bytes', () => {
  const value = fc.oneof(fc.string({ maxLength: 6 }), fc.bigInt({ min: 0n, max: 99n }), fc.constant(null));
  const list = fc.array(value, { maxLength: 4 });
  const written = (values: readonly unknown[]) =>
    JSON.stringify(values, (_, v) => (typeof v === 'bigint' ? { big: `${v}` } : v));
  fc.assert(
    fc.property(list, list, (a, b) => {
      expect(framed(a).equals(framed(b))).toBe(written(a) === written(b));
      expect(framedText(a) === framedText(b)).toBe(written(a) === written(b));
    }),
  );
  expect(framed(['a', 'bc']).equals(framed(['ab', 'c']))).toBe(false);
  expect(framed(['']).equals(framed([null]))).toBe(false);
  expect(framed(['1']).equals(framed([1n]))).toBe(false);
  expect(framedText(['a', 'bc'])).not.toBe(framedText(['ab', 'c']));
  expect(framedText(['2:a', null])).not.toBe(framedText(['2', 'a']));
  for (const frame of [framed, framedText]) expect(() => frame(['\ud800', '\udc00'])).toThrow(TypeError);
});

describe('salts', () => {
  test('are 32 bytes, the same again, and different for any other account, environment, index or key', () => {
    const scope = { accountId: 'acct_1', environment: 'sandbox' } as const;
    const salts = [
      vault.salt(scope, 1n),
      vault.salt(scope, 11n),
      vault.salt({ ...scope, environment: 'production' }, 1n),
      vault.salt({ ...scope, accountId: 'acct_11' }, 1n),
      otherVault.salt(scope, 1n),
    ].map(salt => Buffer.from(salt).toString('hex'));
    expect(salts.map(salt => salt.length)).toEqual([64, 64, 64, 64, 64]);
    expect(new Set(salts).size).toBe(5);
    expect(Buffer.from(vault.salt({ ...scope }, 1n)).toString('hex')).toBe(salts[0]);
  });

  test('never change: funds at old addresses depend on it', () => {
    const salt = vault.salt({ accountId: 'acct_1', environment: 'sandbox' }, 1n);
    expect(Buffer.from(salt).toString('hex')).toBe('c50db1ce4fcdce65256a1a1146e479252171c73ffe26101270b12cf62b0730d1');
  });
});

describe('sealing', () => {
  const context = fc.array(fc.string({ maxLength: 10 }), { maxLength: 4 });

  test('opens under the same context only', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), context, context, (plaintext, mine, other) => {
        const sealed = vault.seal(plaintext, mine);
        expect(vault.open(sealed, [...mine])).toEqual(Buffer.from(plaintext));
        expect(() => otherVault.open(sealed, mine)).toThrow(SealBroken);
        if (JSON.stringify(mine) !== JSON.stringify(other)) expect(() => vault.open(sealed, other)).toThrow(SealBroken);
      }),
    );
  });

  test('no byte can be changed, none left out', () => {
    const sealed = vault.seal('whsec_example', ['acct_1', 'we_1']);
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed[i]! ^= 1;
      expect(() => vault.open(changed, ['acct_1', 'we_1'])).toThrow(SealBroken);
      expect(() => vault.open(sealed.subarray(0, i), ['acct_1', 'we_1'])).toThrow(SealBroken);
    }
    expect(vault.open(sealed, ['acct_1', 'we_1']).toString()).toBe('whsec_example');
  });

  test('the same text is sealed differently each time, and never in clear', () => {
    const seals = Array.from({ length: 100 }, () => vault.seal('the secret', ['a']));
    expect(new Set(seals.map(sealed => sealed.toString('hex'))).size).toBe(100);
    for (const sealed of seals) expect(sealed.includes('the secret')).toBe(false);
  });
});
