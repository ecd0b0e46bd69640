import type { PaymentStatus } from '../src/core/payment/states.ts';

/** Describes the seeded payments of one account. Pure, so that workers and bench agree. */
export type SeedPlan = {
  dataDir: string;
  accountId: string;
  treasury: string;
  payments: number;
  firstIndex: number;
  endMs: number;
};

export type Chunk = { file: string; first: number; count: number };

export const seededDays = 730;
const dayMs = 86_400_000;

/** Spread evenly over two years, oldest first. */
export const timeOf = (plan: Pick<SeedPlan, 'payments' | 'endMs'>, n: number): number =>
  Math.floor(plan.endMs - seededDays * dayMs * (1 - n / plan.payments));

const currencies = ['USDC', 'USDT', 'DAI', 'EURC', 'ETH'];
const networks = ['ethereum', 'polygon', 'base', 'arbitrum', 'optimism', 'bsc', 'avalanche'];
const statuses: readonly PaymentStatus[] = [
  'completed',
  'completed',
  'completed',
  'expired',
  'completed',
  'canceled',
  'completed',
  'expired',
  'completed',
  'completed',
];

/** Mixed by a hash of the position, so that no filter correlates with another or with time. */
export const combinationOf = (n: number): { status: PaymentStatus; currency: string; network: string } => {
  const mixed = Math.imul(n + 1, 2_654_435_761) >>> 0;
  return {
    status: statuses[mixed % statuses.length]!,
    currency: currencies[(mixed >>> 8) % currencies.length]!,
    network: networks[(mixed >>> 16) % networks.length]!,
  };
};
