import { appendFileSync } from 'node:fs';

/** What the service acknowledged to a client. */
export type AckedPayment = {
  readonly id: string;
  readonly externalId: string;
  readonly idempotencyKey: string | null;
  readonly address: string;
  readonly amount: string;
  readonly callbackUrl: string | null;
  canceled: boolean;
};

export type AckedEndpoint = {
  readonly id: string;
  readonly events: readonly string[];
  readonly sentMs: number;
  readonly ackedMs: number;
};

/** A create to send. It may be sent more than once. */
export type Order = {
  readonly externalId: string;
  readonly idempotencyKey: string | null;
  readonly body: Readonly<Record<string, unknown>>;
};

export type Ledger = {
  readonly payments: Map<string, AckedPayment>;
  readonly endpoints: AckedEndpoint[];
  readonly keys: { id: string; name: string; key: string }[];
  /** Orders whose answer never came: sent again until there is one. */
  readonly unsettled: Order[];
  /** Orders of payments with an idempotency key, to be sent again now and then. */
  readonly replayable: { order: Order; id: string }[];
  readonly counts: Map<string, number>;
  /** Answers that must never occur, with their request. */
  readonly outrages: string[];
  acknowledge(kind: string, entry: object): void;
  count(what: string): void;
  outrage(what: string): void;
};

const keptOutrages = 50;

/** Every acknowledgement is on disk before the next request leaves, in a file that is only ever appended to. */
export const createLedger = (path: string): Ledger => {
  const counts = new Map<string, number>();
  const outrages: string[] = [];
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  return {
    payments: new Map(),
    endpoints: [],
    keys: [],
    unsettled: [],
    replayable: [],
    counts,
    outrages,
    count,
    acknowledge(kind, entry) {
      count(kind);
      appendFileSync(path, `${JSON.stringify({ kind, atMs: Date.now(), ...entry })}\n`);
    },
    outrage(what) {
      count('outrage');
      if (outrages.length < keptOutrages) outrages.push(what);
    },
  };
};
