import { type CheckoutState, type CheckoutView, checkoutState } from '../../src/core/checkoutView.ts';

export const address = '0x9fB29AAc15b9A4B7F17c3385939b007540f4d791';
const contract = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

export const nowMs = Date.UTC(2026, 2, 14, 15, 9, 26);
const minuteMs = 60_000;

const uriFor = (baseUnits: string): string =>
  `ethereum:${contract}@8453/transfer?address=${address}&uint256=${baseUnits}`;

const hashOf = (digit: string): string => `0x${'5c504ed432cb51138bcf09aa5e8a410d'.replaceAll('0', digit).repeat(2)}`;

const transaction = (
  digit: string,
  amount: string,
  status: 'confirming' | 'confirmed',
): CheckoutView['transactions'][number] => ({
  hash: hashOf(digit),
  amount,
  status,
  explorerUrl: `https://basescan.org/tx/${hashOf(digit)}`,
});

const waiting: CheckoutView = {
  id: 'pay_01kkpvqqg8e9s3v6x7yzabcdef',
  environment: 'production',
  version: '7',
  status: 'pending',
  exception: null,
  merchantName: 'Acme',
  supportContact: null,
  description: 'Order 1042: two tickets, Saturday evening',
  amount: '25.00',
  amountReceived: '0.00',
  amountRemaining: '25.00',
  amountLate: '0.00',
  isPayable: true,
  currency: 'USDC',
  decimals: 6,
  network: {
    slug: 'base',
    name: 'Base',
    chainId: 8453,
    isSlow: false,
    blockTimeSeconds: 12,
    nativeCurrency: { symbol: 'ETH', decimals: 18 },
    walletRpcUrl: 'https://mainnet.base.org',
    explorerUrl: 'https://basescan.org',
  },
  contract,
  address,
  paymentUri: uriFor('25000000'),
  baseUnits: '25000000',
  confirmations: { current: 0, required: 12, rule: 'depth' },
  transactions: [],
  hasStrays: false,
  createdAtMs: nowMs - minuteMs,
  expiresAtMs: nowMs + 29 * minuteMs,
  completedAtMs: null,
  redirectUrl: 'https://acme.example/thanks?order=1042',
  simulateToken: null,
};

const underpaid: CheckoutView = {
  ...waiting,
  exception: 'underpaid',
  amountReceived: '19.999999',
  amountRemaining: '5.000001',
  paymentUri: uriFor('5000001'),
  baseUnits: '5000001',
  transactions: [transaction('1', '19.999999', 'confirmed')],
};

const confirming: CheckoutView = {
  ...waiting,
  status: 'confirming',
  amountReceived: '25.00',
  amountRemaining: '0',
  isPayable: false,
  paymentUri: uriFor('0'),
  baseUnits: '0',
  confirmations: { current: 3, required: 12, rule: 'depth' },
  transactions: [transaction('2', '25.00', 'confirming')],
};

const completed: CheckoutView = {
  ...confirming,
  status: 'completed',
  confirmations: { current: 12, required: 12, rule: 'depth' },
  transactions: [transaction('2', '25.00', 'confirmed')],
  completedAtMs: nowMs,
};

const expiresAtMs = nowMs - minuteMs;

const views: Readonly<Record<CheckoutState, CheckoutView>> = {
  waiting,
  underpaid,
  notPayable: { ...underpaid, isPayable: false },
  timeUp: { ...underpaid, expiresAtMs: nowMs },
  confirming,
  completed,
  overpaid: {
    ...completed,
    exception: 'overpaid',
    amountReceived: '30.50',
    transactions: [transaction('2', '25.00', 'confirmed'), transaction('3', '5.50', 'confirmed')],
  },
  expired: { ...waiting, status: 'expired', isPayable: false, expiresAtMs },
  expiredWithFunds: { ...underpaid, status: 'expired', isPayable: false, expiresAtMs },
  canceled: { ...waiting, status: 'canceled', isPayable: false },
  reversed: { ...waiting, status: 'reversed', isPayable: false, exception: 'reorged' },
};

export const states = Object.keys(views) as CheckoutState[];

/** The view of a payment in this state, with changes. */
export const viewIn = (state: CheckoutState, changes: Partial<CheckoutView> = {}): CheckoutView => {
  const view = { ...views[state], ...changes };
  const found = checkoutState(view, nowMs);
  if (found !== state) throw new Error(`this view is ${found}, not ${state}`);
  return view;
};

/** A view with every optional part, for the largest page. */
export const crowded = (state: CheckoutState): CheckoutView =>
  viewIn(state, {
    environment: 'sandbox',
    simulateToken: 'b4b6c2a0d8e14f7a9c3b5d7e9f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c',
    hasStrays: true,
    supportContact: 'help@acme.example',
    network: { ...views[state].network, isSlow: true },
  });
