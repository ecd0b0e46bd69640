import { createIdSource } from '../../src/core/ids.ts';
import { silentLog } from '../../src/core/log.ts';
import type { PaymentStatus } from '../../src/core/payment/states.ts';
import { legalPath } from '../../src/core/payment/walk.ts';
import { deriveAddress } from '../../src/engine/payments/paymentAddress.ts';
import { sealNewPayment } from '../../src/engine/payments/sealNewPayment.ts';
import { sealRows } from '../../src/engine/seals/sealRows.ts';
import { testTreasury } from '../../src/engine/wallets/treasury.ts';
import { insertPayments } from '../../src/storage/payments/insertPayments.ts';
import { moveTotals } from '../../src/storage/payments/moveTotals.ts';
import { updatePayments } from '../../src/storage/payments/payments.ts';
import type { TestAccount, TestFlorin } from '../support/florin.ts';

export type Wanted = {
  createdMs: number;
  currency: string;
  network: string;
  status: PaymentStatus;
  contract?: string | null;
  /** The local chain by default. */
  caip2?: string;
  /** In base units; by default different for each payment. */
  amount?: bigint;
};
export type Written = Wanted & { id: string; address: string };

const hourMs = 3_600_000;
/** In the place of a seal until all is written. */
const notYet = Buffer.alloc(32);
const batchSize = 500;

/** Pseudo-random numbers, the same in every run. */
export const createSequence = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

export const newPayment = (
  scene: TestFlorin,
  account: TestAccount,
  id: string,
  eventId: string,
  index: number,
  w: Wanted,
) => {
  const scope = { accountId: account.id, environment: 'sandbox' } as const;
  const treasury = testTreasury(account.id);
  const derivationIndex = BigInt(index);
  const address = deriveAddress(scene.admin.vault, {
    scope,
    walletKind: 'forwarder',
    treasury,
    index: derivationIndex,
  });
  const terms = {
    caip2: w.caip2 ?? 'eip155:31337',
    contract: w.contract ?? null,
    amount: w.amount ?? BigInt(index + 1),
    decimals: 18,
    currency: w.currency,
    network: w.network,
    walletKind: 'forwarder' as const,
    treasury,
    address,
  };
  return sealNewPayment(scene.admin.vault, {
    ...scope,
    ...terms,
    id,
    derivationIndex,
    tiers: [{ atLeast: '0', kind: 'depth' as const, depth: 2 }],
    toleranceBps: 0,
    dustFloor: 0n,
    headNumber: null,
    latePolicy: 'accept' as const,
    lateWindowSeconds: 0,
    description: null,
    metadata: '{}',
    callbackUrl: null,
    redirectUrl: null,
    externalId: null,
    createdAtMs: w.createdMs,
    expiresAtMs: w.createdMs + hourMs,
    eventId,
    eventBody: '{}',
    trace: null,
    idempotency: null,
  });
};

const moveTo = (scene: TestFlorin, account: TestAccount, { id, createdMs, status }: Written): Promise<void> =>
  scene.admin.db.transaction(async tx => {
    const scope = { accountId: account.id, environment: 'sandbox' } as const;
    const path =
      status === 'reversed' ? (['confirming', 'completed', 'reversed'] as const) : legalPath('pending', status);
    let from: PaymentStatus = 'pending';
    for (const [step, to] of path.entries()) {
      const completedAt = to === 'completed' || to === 'reversed' ? new Date(createdMs + 1) : null;
      const canceledAt = to === 'canceled' ? new Date(createdMs + 1) : null;
      const amounts = { exception: null, amountReceived: 0n, amountConfirmed: 0n, accepted: null };
      const memory = {
        detected: false,
        strayed: false,
        untold: false,
        awaitsRead: true,
        expiredUnread: false,
        timeEndedAt: null,
        coveredNumber: null,
        wakeAt: null,
        wakeBlock: null,
      };
      const change = { ...amounts, ...memory, status: to, completedAt, canceledAt, sequence: step + 2 };
      await updatePayments(tx, [{ key: { ...scope, id }, change, seal: notYet }]);
      const state = (status: PaymentStatus) => ({ status, exception: null });
      const states = [{ payment: { ...scope, id }, from: state(from), to: state(to) }];
      await moveTotals(tx, { states, volumes: [], holdings: [] });
      from = to;
    }
  });

/** Writes payments of any time and status with valid seals, oldest first. */
export const writePayments = async (
  scene: TestFlorin,
  account: TestAccount,
  wanted: readonly Wanted[],
): Promise<Written[]> => {
  const ids = createIdSource(() => Math.floor(Math.random() * 2 ** 40));
  const ordered = [...wanted].sort((a, b) => a.createdMs - b.createdMs);
  const rows = ordered.map((w, index) => {
    const { id } = ids.next('payment', w.createdMs);
    return newPayment(scene, account, id, ids.next('event', w.createdMs).id, index, w);
  });
  for (let at = 0; at < rows.length; at += batchSize) {
    await insertPayments(scene.admin.db, rows.slice(at, at + batchSize));
  }
  const written = ordered.map((w, i) => ({ ...w, id: rows[i]!.id, address: rows[i]!.address }));
  const moved = written.filter(({ status }) => status !== 'pending');
  for (const each of moved) await moveTo(scene, account, each);
  if (moved.length > 0) {
    await sealRows({ ...scene.admin, log: silentLog }, { all: true, tables: table => table === 'payments' });
  }
  return written;
};
