// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import type { Fault } from './fault.ts';

/** Accounts see nothing of each other, and sandbox and production see nothing of each other. */
export const tenantFaults: readonly Fault[] = [
  {
    harm: 'A key of one environment would work in the other.',
    file: 'src/http/edge/authenticate.ts',
    find: 'key.environment !== environment',
    replace: 'key.environment === undefined',
    tests: ['api/environments'],
  },
  {
    harm: 'An account could read payments of others.',
    file: 'src/storage/payments/payments.ts',
    find: 'join payments p using (account_id, environment, id)',
    replace: 'join payments p using (environment, id)',
    tests: ['api/isolation'],
  },
  {
    harm: 'A list would show payments of other accounts.',
    file: 'src/storage/payments/listPayments.ts',
    find: "const owned = 'account_id = $1 and",
    replace: "const owned = 'account_id >= $1 and",
    tests: ['api/isolation'],
  },
  {
    harm: 'A sandbox payment would be shown on a production page.',
    file: 'src/storage/payments/checkouts.ts',
    find: ' and p.environment = wanted.environment limit 1',
    replace: ' limit 1',
    tests: ['api/checkoutPages'],
  },
  {
    harm: 'An account could read the events of payments of others.',
    file: 'src/storage/webhooks/eventLog.ts',
    find: 'select * from events where account_id = $1 and environment = $2 and payment_id',
    replace: 'select * from events where payment_id',
    tests: ['api/events'],
  },
  {
    harm: 'An account could read deliveries of others.',
    file: 'src/storage/webhooks/deliveryLog.ts',
    find: 'where ${owned} and d.id = $3`,\n',
    replace: "where $1 <> '' and $2 <> '' and d.id = $3`,\n",
    tests: ['api/isolation'],
  },
  {
    harm: 'Failed deliveries of production would be listed in the sandbox.',
    file: 'src/storage/webhooks/deliveryLog.ts',
    find: "where ${owned} and d.status = 'parked'",
    replace: "where d.account_id = $1 and $2 <> '' and d.status = 'parked'",
    tests: ['api/deliveriesList'],
  },
  {
    harm: 'A replay would send events of other accounts.',
    file: 'src/storage/webhooks/deliveryLog.ts',
    find: 'from events where account_id = $1 and environment = $2 and type',
    replace: 'from events where account_id <= $1 and environment <= $2 and type',
    tests: ['api/replay'],
  },
  {
    harm: 'An account could read and change webhook endpoints of others.',
    file: 'src/storage/webhooks/endpoints.ts',
    find: "const live = 't.account_id = $1 and",
    replace: "const live = 't.account_id >= $1 and",
    tests: ['api/isolation'],
  },
  {
    harm: 'An account could change members of others.',
    file: 'src/storage/access/memberships.ts',
    find: 'where m.account_id = $1 and m.person_id = $2`',
    replace: 'where $1 <> $2 and m.person_id = $2`',
    tests: ['dashboard/team', 'dashboard/memberships'],
  },
  {
    harm: 'A former member could open the account again.',
    file: 'src/engine/access/sessions.ts',
    find: '!isMember || ',
    replace: '',
    tests: ['dashboard/memberships'],
  },
  {
    harm: 'An account could revoke keys of others.',
    file: 'src/engine/access/keys.ts',
    find: 'row?.accountId !== scope.accountId || row.environment',
    replace: '!row || row.environment',
    tests: ['dashboard/keys'],
  },
  {
    harm: 'Two accounts would derive the same payment addresses.',
    file: 'src/vault/vault.ts',
    find: 'hmac(saltKey, [accountId, environment, index])',
    replace: 'hmac(saltKey, [environment, index])',
    tests: ['vault/vault'],
  },
];
