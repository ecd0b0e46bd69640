import { establishedDays, guardHours, holdingSignInChanges, ownerChanges } from '../../core/access/ownerGuard.ts';
import type { Scope } from '../../core/environment.ts';
import { listOwners } from '../access/memberships.ts';
import type { Queryable, Row } from '../database.ts';
import { sealsOf, toSeal } from '../seals.ts';

/** For `m`, an owner: whether they became one long enough before `at`. */
const isEstablished = (at: string): string => `m.owner_since <= ${at} - interval '${establishedDays} days'`;

/** The owners of an account, read before the statement that counts them, because a forged one must not count. */
type Owners = { readonly ids: readonly string[]; readonly since: readonly Date[] };
const readOwners = async (db: Queryable, accountId: string): Promise<Owners> => {
  const owners = await listOwners(db, accountId);
  return { ids: owners.map(({ personId }) => personId), since: owners.map(({ since }) => since) };
};
/** `ids` and `since` are parameters. */
const givenOwners = (ids: string, since: string): string =>
  `unnest(${ids}::text[], ${since}::timestamptz[]) as m(person_id, owner_since)`;

const ofWallet = `a.account_id = w.account_id and a.environment = w.environment and a.network = w.network
  and a.version = w.version`;

/** For `wallets w`: how many established owners are behind the change or are the person. */
const backers = (owners: string, personId: string): string => `(select count(*) from ${owners}
  where ${isEstablished('w.created_at')} and (m.person_id = ${personId}
    or exists (select from wallet_approvals a where ${ofWallet} and a.person_id = m.person_id)))`;
const ownersNow = `(select o.person_id, o.owner_since from memberships o where o.account_id = w.account_id
  and o.role = 'owner' and o.removed_at is null) m`;

/** For `wallets w`: whoever asked for the change, and whoever approved it, as JSON. */
export const approvalsOf = `coalesce((select json_agg(json_build_object('personId', a.person_id, 'name', a.approved_by)
  order by a.approved_at, a.person_id) from wallet_approvals a where ${ofWallet}), '[]')`;
/** For `wallets w`: whether fewer than two established owners are behind the change. Only shown, so forged rows count. */
export const needsSecondOwner = `(w.environment = 'production' and ${backers(ownersNow, 'null::text')} < 2)`;

export type WalletApproval = { readonly personId: string; readonly name: string };

const insertStatement = {
  name: 'wallet-approve',
  text: `insert into wallet_approvals as a (account_id, environment, network, version, person_id, approved_by)
    values ($1, $2, $3, $4, $5, $6) on conflict do nothing returning a.version, ${toSeal('wallet_approvals', 'a')}`,
};
/** False if the person is behind the change already. */
export const insertApproval = async (
  tx: Queryable,
  scope: Scope,
  { network, version, personId, name }: WalletApproval & { readonly network: string; readonly version: number },
): Promise<boolean> =>
  (await tx.query(insertStatement, [scope.accountId, scope.environment, network, version, personId, name])).length > 0;

const establishedStatement = {
  name: 'wallet-approver',
  text: `select ${sealsOf({ m: 'memberships' })}
    from wallets w join memberships m on m.account_id = w.account_id and m.person_id = $5
    where w.account_id = $1 and w.environment = $2 and w.network = $3 and w.version = $4
      and m.role = 'owner' and m.removed_at is null and ${isEstablished('w.created_at')}`,
};
/** Whether the person had been an owner for long enough when the change was asked for. */
export const mayApprove = async (
  tx: Queryable,
  scope: Scope,
  { network, version, personId }: { network: string; version: number; personId: string },
): Promise<boolean> =>
  (await tx.query(establishedStatement, [scope.accountId, scope.environment, network, version, personId])).length > 0;

const guardStatement = {
  name: 'wallet-guarding',
  text: `select w.network, w.takes_effect_at as "takesEffectAt" from wallets w
    where w.account_id = $1 and w.environment = 'production' and w.takes_effect_at > statement_timestamp()
      and not exists (select from wallet_stops x where x.account_id = w.account_id and x.environment = w.environment
        and x.network = w.network and x.version = w.version and x.stopped_at <= w.takes_effect_at)
      and ${backers(givenOwners('$4', '$5'), '$2')} < 2
      and ($3::text = 'owners' or exists (select from memberships o where o.account_id = $1 and o.person_id = $2
        and o.role = 'owner' and o.removed_at is null))
    order by w.takes_effect_at desc limit 1`,
};
export type GuardingChange = Row & { network: string; takesEffectAt: Date };
/** A waiting change that forbids this person to change owners, or their own sign-in if they are one: the last to come. */
export const findGuardingChange = async (
  tx: Queryable,
  accountId: string,
  personId: string,
  what: 'owners' | 'sign-in',
): Promise<GuardingChange | null> => {
  const { ids, since } = await readOwners(tx, accountId);
  return (await tx.query<GuardingChange>(guardStatement, [accountId, personId, what, ids, since]))[0] ?? null;
};

/** Fewer than two established owners among the person who asks for a wallet and another one. */
const isOneOwner = (other: string): string => `(select count(*) from ${givenOwners('$5', '$6')}
  where ${isEstablished('(select clock_timestamp())')} and m.person_id in ($2, ${other})) < 2`;

const heldStatement = {
  name: 'wallet-held-until',
  text: `with held as (
      select l.at from audit_log l
      where l.account_id = $1 and l.action = any($3::text[] || $4::text[]) and l.actor_kind = 'person'
        and l.at > (select clock_timestamp()) - interval '${guardHours} hours'
        and case when l.action = any($3::text[])
            then exists (select from memberships o where o.account_id = $1 and o.person_id = l.actor_id
              and o.role = 'owner' and o.removed_at is null)
            else 'owner' in (l.detail ->> 'role', l.detail ->> 'from', l.detail ->> 'to') end
        and ${isOneOwner('l.actor_id')}
      union all
      select w.stopped_at from wallet_stops w join wallet_approvals a on ${ofWallet}
      where w.account_id = $1 and w.environment = 'production' and ${isOneOwner('a.person_id')}
        and w.stopped_at > (select clock_timestamp()) - interval '${guardHours} hours'
    )
    select max(at) + interval '${guardHours} hours' as "freeAt" from held`,
};
/**
 * Until when this person may ask for no wallet; null if they may. An owner changed, or changed how they sign in, or a
 * change of a wallet was stopped that somebody had asked for, and they and this person are not two established owners.
 */
export const walletsHeldUntil = async (db: Queryable, accountId: string, personId: string): Promise<Date | null> => {
  const { ids, since } = await readOwners(db, accountId);
  const values = [accountId, personId, [...holdingSignInChanges], [...ownerChanges], ids, since];
  return (await db.query<Row & { freeAt: Date | null }>(heldStatement, values))[0]!.freeAt;
};
