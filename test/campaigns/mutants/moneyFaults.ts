// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import { dashboard, type Fault } from './fault.ts';

const sums: Fault[] = [
  {
    name: 'a reversal leaves its sum in the volumes',
    file: 'src/engine/movedFunds.ts',
    find: '[...volumeOf(change.before, -1), ...volumeOf(change.after, 1)]',
    replace: '[...volumeOf(change.after, 1)]',
    tests: dashboard('home'),
  },
  {
    name: 'more money for a completed payment is not in the volumes',
    file: 'src/engine/movedFunds.ts',
    find: 'before.amountConfirmed === after.amountConfirmed &&',
    replace: '',
    tests: dashboard('home'),
  },
  {
    name: 'volumes forget what is not folded',
    file: 'src/storage/dashboard/homeFigures.ts',
    find: 'amount from volume_deltas where ${owned} and day >= $3',
    replace: 'amount from volume_deltas where false and ${owned} and day >= $3',
    tests: dashboard('home'),
  },
  {
    name: 'exceptions are counted in no total',
    file: 'src/storage/totals.ts',
    find: 'select d.exception::text where d.exception is not null) e(exception)\n      group by',
    replace: 'select d.exception::text where false) e(exception)\n      group by',
    tests: dashboard('payments', 'home'),
  },
];

const files: Fault[] = [
  {
    name: 'a cell may be a formula',
    file: 'src/core/dashboard/csv.ts',
    find: '/^[=+\\-@\\t\\r]/',
    replace: '/^[+\\-@\\t\\r]/',
    tests: dashboard('paymentsCsv'),
  },
  {
    name: 'a quote ends its cell',
    file: 'src/core/dashboard/csv.ts',
    find: `.replaceAll('"', '""')`,
    replace: '',
    tests: dashboard('paymentsCsv'),
  },
  {
    name: 'a payment falls between two pages of a file',
    file: 'src/engine/dashboard/exportPayments.ts',
    find: 'below = rows.at(-1)!.id',
    replace: 'below = rows.at(-1)!.id.slice(0, 10)',
    tests: dashboard('paymentsCsv'),
  },
  {
    name: 'a file shows payments that were tampered with',
    file: 'src/engine/dashboard/exportPayments.ts',
    find: 'if (carriesSeal(context, row)) return lineOf(row);',
    replace: 'return lineOf(row);',
    tests: dashboard('payments'),
  },
  {
    name: 'a file is read as fast as the database gives it',
    file: 'src/http/dashboard/csvStream.ts',
    find: '!response.write(piece) && !(await drained(response, stalledMs))',
    replace: '!response.write(piece) && response.destroyed',
    tests: dashboard('csvStream'),
  },
  {
    name: 'a file goes on for somebody who was removed',
    file: 'src/storage/dashboard/sessions.ts',
    find: '\n      and s.expires_at > clock_timestamp() and p.removed_at is null`,\n};\n/** The role behind a session that',
    replace: '\n      and s.expires_at > clock_timestamp()`,\n};\n/** The role behind a session that',
    tests: dashboard('paymentsCsv'),
  },
  {
    name: 'a file goes on for a role that may not have it',
    file: 'src/engine/dashboard/sessions.ts',
    find: 'return role !== null && mayDo(role, action);',
    replace: 'return role !== null;',
    tests: dashboard('paymentsCsv'),
  },
  {
    name: 'one slow reader keeps the others waiting',
    file: 'src/http/dashboard/csvStream.ts',
    find: 'const { personId } = reader;',
    replace: "const personId = '';",
    tests: dashboard('csvStream', 'paymentsCsv'),
  },
];

const settlement: Fault[] = [
  {
    name: 'what is not final counts as held',
    file: 'src/engine/movedFunds.ts',
    find: 'BigInt(row.amountConfirmed) - BigInt(row.amountForwarded)',
    replace: 'BigInt((row as PaymentRow).amount) - BigInt(row.amountForwarded)',
    tests: dashboard('settlement'),
  },
  {
    name: 'swept funds stay in the sum of what is held',
    file: 'src/storage/holdings.ts',
    find: 'greatest(p.amount_confirmed - f.amount, 0)',
    replace: 'greatest(p.amount_confirmed - p.amount_forwarded, 0)',
    tests: dashboard('settlement'),
  },
  {
    name: 'forwards of a block that was left still count',
    file: 'src/storage/holdings.ts',
    find: 'f.contract is not distinct from p.contract and f.canonical and f.verified',
    replace: 'f.contract is not distinct from p.contract and f.verified',
    tests: dashboard('settlement'),
  },
  {
    name: "anybody's transaction lands a sweep",
    file: 'src/storage/dashboard/sweeps.ts',
    find: 'where f.tx_hash = s.tx_hash and f.caip2',
    replace: 'where f.caip2',
    tests: dashboard('settlement'),
  },
  {
    name: 'a plan takes rows that do not match their seal',
    file: 'src/engine/dashboard/sweepPlan.ts',
    find: 'rows.filter(row => isAuthentic(context, row))',
    replace: 'rows.filter(row => isAuthentic(context, row) || row.id !== undefined)',
    tests: dashboard('settlement'),
  },
];

export const moneyFaults: readonly Fault[] = [...sums, ...files, ...settlement];
