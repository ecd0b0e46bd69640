import type { Database } from '../../src/storage/database.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';
import { withTestSeals } from '../support/testVault.ts';

/** Column names to SQL expressions, so that NaN, arrays and functions can be written. */
export type Columns = Record<string, string>;

let counter = 0;
/** 26 digits, increasing. */
export const idBody = (): string => (++counter).toString().padStart(26, '0');

const text = (value: string): string => `'${value}'`;

export type Rows = {
  readonly db: Database;
  run(sql: string): Promise<void>;
  read(sql: string): Promise<Record<string, unknown>[]>;
  insert(table: string, columns: Columns): Promise<void>;
  account(): Promise<string>;
  payment(accountId: string, columns?: Columns): Promise<string>;
  event(accountId: string, paymentId: string, columns?: Columns): Promise<string>;
  endpoint(accountId: string, columns?: Columns): Promise<string>;
};

/** Opens a database of its own, with functions that insert minimal valid rows. */
export const openRows = async (): Promise<Rows> => {
  const clone = await cloneDatabase();
  const db = withTestSeals(openTestDatabase(clone.url));
  const run = (sql: string): Promise<void> => db.script(sql);
  const insert = (table: string, columns: Columns): Promise<void> =>
    run(`insert into ${table} (${Object.keys(columns).join(', ')}) values (${Object.values(columns).join(', ')})`);
  const owned = (accountId: string): Columns => ({ account_id: text(accountId), environment: text('sandbox') });
  return {
    db,
    run,
    insert,
    read: sql => db.query({ name: '', text: sql }),
    async account() {
      const id = `acct_${idBody()}`;
      await insert('accounts', { id: text(id), name: text('Test'), plan: text('starter') });
      return id;
    },
    async payment(accountId, columns = {}) {
      const id = `pay_${idBody()}`;
      await insert('payments', {
        ...owned(accountId),
        id: text(id),
        amount: '1000000',
        decimals: '6',
        currency: text('USDC'),
        network: text('base'),
        caip2: text('eip155:31337'),
        address: text(`0x${id}`),
        wallet_kind: text('forwarder'),
        treasury: text('0xtreasury'),
        derivation_index: '0',
        mac: `decode(repeat('00', 32), 'hex')`,
        tiers: `'[{"atLeast":"0","kind":"depth","depth":2}]'`,
        tolerance_bps: '0',
        late_policy: text('accept'),
        late_window_seconds: '0',
        metadata: text('{}'),
        created_at: text('2026-01-31T12:00:00Z'),
        expires_at: text('2026-01-31T13:00:00Z'),
        ...columns,
      });
      return id;
    },
    async event(accountId, paymentId, columns = {}) {
      const id = `evt_${idBody()}`;
      await insert('events', {
        ...owned(accountId),
        id: text(id),
        payment_id: text(paymentId),
        sequence: '1',
        type: text('payment.created'),
        status: text('pending'),
        body: text('{}'),
        created_at: text('2026-01-31T12:00:00Z'),
        ...columns,
      });
      return id;
    },
    async endpoint(accountId, columns = {}) {
      const id = `we_${idBody()}`;
      await insert('webhook_endpoints', {
        ...owned(accountId),
        id: text(id),
        url: text('https://merchant.example/'),
        events: `array['*']`,
        secret: `decode('00', 'hex')`,
        created_at: text('2026-01-31T12:00:00Z'),
        ...columns,
      });
      return id;
    },
  };
};

/** SQLSTATEs of refusals. `ours` is raised by our triggers. */
export const refusal = {
  check: '23514',
  foreignKey: '23503',
  unique: '23505',
  excluded: '23P01',
  notNull: '23502',
  ours: '23000',
  outOfRange: '22003',
} as const;
