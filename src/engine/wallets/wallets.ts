import { establishedDays, guardHours } from '../../core/access/ownerGuard.ts';
import type { Wallet, WalletChange } from '../../core/api/setupApi.ts';
import type { Environment, Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { lockAuditHead } from '../../storage/audit/auditLog.ts';
import type { Queryable } from '../../storage/database.ts';
import { insertApproval, mayApprove, walletsHeldUntil } from '../../storage/wallets/walletApprovals.ts';
import {
  insertConfirmation,
  latestWalletOf,
  listWallets,
  lockWallets,
  pendingWallets,
  type ShownWallet,
  stopWallet,
  verifyWallet,
} from '../../storage/wallets/wallets.ts';
import type { Acting } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import { perform, type Work } from '../perform.ts';
import { contractCode, couldNotAsk, hashOfCode, networkName } from './contractTreasury.ts';
import { type Destination, type GivenDestination, readDestination, sampleAddresses } from './treasury.ts';
import { isSealed, putWallet } from './walletSeal.ts';
import { hoursToWait } from './walletWait.ts';

export type WalletRequest = { network: string; treasury?: string; xpub?: string };
export type Unset = { network: string; kind: null; pending: WalletChange | null };

const changeId = ({ network, version }: ShownWallet): string => `${network}-${version}`;

const changeOf = (row: ShownWallet): WalletChange => ({
  id: changeId(row),
  network: row.network,
  kind: row.kind,
  destination: row.destination,
  requestedAt: row.createdAt.toISOString(),
  requestedBy: row.requestedBy ?? 'Florin',
  takesEffectAt: row.takesEffectAt!.toISOString(),
  approvals: row.approvals,
  holdsOwners: row.needsSecondOwner,
});

/**
 * A broken seal means that somebody wrote to the database. A pending change is still shown, so that people can stop it.
 */
const assertSealed = (context: Pick<Context, 'vault' | 'log'>, scope: Scope, row: ShownWallet): void => {
  if (isSealed(context.vault, scope, row)) return;
  const { accountId, environment } = scope;
  const { network, version } = row;
  context.log.error(
    { forged: 'wallets', accountId, environment, network, version },
    'a wallet does not match its seal',
  );
  if (!row.pending) throw new Error('the wallet does not match its seal');
};

const walletOf = (row: ShownWallet, pending: ShownWallet | undefined): Wallet => ({
  network: row.network,
  kind: row.kind,
  destination: row.destination,
  version: row.version,
  createdAt: (row.takesEffectAt ?? row.createdAt).toISOString(),
  verifiedAt: row.verifiedAt?.toISOString() ?? null,
  sampleAddresses: sampleAddresses(row),
  pending: pending ? changeOf(pending) : null,
});

const readWallets = async (
  context: Pick<Context, 'vault' | 'log'>,
  db: Queryable,
  scope: Scope,
): Promise<ShownWallet[]> => {
  const rows = await listWallets(db, scope);
  for (const row of rows) assertSealed(context, scope, row);
  return rows;
};

const pickWallet = (rows: readonly ShownWallet[], network: string) => {
  const mine = rows.filter(row => row.network === network);
  return { inForce: mine.find(row => !row.pending), waiting: mine.find(row => row.pending) };
};

/** One entry per network of the registry, set or not. */
export const showWallets = async (
  context: Pick<Context, 'db' | 'vault' | 'log'> & { readonly networks: Pick<Context['networks'], 'all'> },
  scope: Scope,
): Promise<(Wallet | Unset)[]> => {
  const rows = await readWallets(context, context.db, scope);
  return context.networks
    .all()
    .filter(({ environment }) => environment === scope.environment)
    .map(({ slug }) => {
      const { inForce, waiting } = pickWallet(rows, slug);
      return inForce
        ? walletOf(inForce, waiting)
        : { network: slug, kind: null, pending: waiting ? changeOf(waiting) : null };
    });
};

const givenOf = ({ treasury, xpub }: WalletRequest): GivenDestination => {
  if (treasury !== undefined && xpub === undefined) return { treasury };
  if (xpub !== undefined && treasury === undefined) return { xpub };
  throw invalid('treasury', 'Enter either a treasury address or an extended public key.');
};

const destinationOf = async (
  context: Context,
  db: Queryable,
  scope: Scope,
  request: WalletRequest,
): Promise<Destination> => {
  if (!context.networks.configured(scope.environment, request.network)) {
    throw invalid('network', 'No network has this name.');
  }
  return readDestination(db, scope, context.networks.all(), givenOf(request));
};

const refuseWhileHeld = async (db: Queryable, { accountId }: Scope, personId: string): Promise<void> => {
  const freeAt = await walletsHeldUntil(db, accountId, personId);
  if (freeAt === null) return;
  throw new FlorinError(
    'conflict',
    `In the last ${guardHours} hours an owner, or how an owner signs in, changed, or a wallet change was stopped. Request the change after ${freeAt.toISOString()}, or ask another owner to request it. Whoever runs Florin can set a wallet at once: florin wallets set.`,
  );
};

/** What would be set, and how long it would wait. Writes nothing. */
export const previewWallet = async (
  context: Context,
  scope: Scope,
  request: WalletRequest,
  personId: string,
): Promise<Destination & { sampleAddresses: string[]; waitsHours: number }> => {
  const wallet = await destinationOf(context, context.db, scope, request);
  const { inForce } = pickWallet(await readWallets(context, context.db, scope), request.network);
  const waitsHours = await hoursToWait(context.db, scope, request.network, inForce);
  if (waitsHours > 0) await refuseWhileHeld(context.db, scope, personId);
  return { ...wallet, sampleAddresses: sampleAddresses(wallet), waitsHours };
};

const refuseSecondChange = (waiting: ShownWallet | undefined): void => {
  if (!waiting) return;
  throw new FlorinError(
    'conflict',
    `A change to ${waiting.destination} takes effect at ${waiting.takesEffectAt!.toISOString()}. Stop it first.`,
  );
};

/** The first wallet of a network takes effect at once, because no payments went elsewhere before. A change waits. */
export const requestWallet =
  (context: Context, request: WalletRequest): Work<{ wallet: Wallet | null; pending: WalletChange | null }> =>
  async (tx, { scope, actor }) => {
    const { network } = request;
    const wallet = await destinationOf(context, tx, scope, request);
    await lockWallets(tx, scope, network);
    const before = pickWallet(await readWallets(context, tx, scope), network);
    refuseSecondChange(before.waiting);
    if (before.inForce?.kind === wallet.kind && before.inForce.destination === wallet.destination) {
      throw new FlorinError('conflict', `New payments on ${network} already go to this wallet.`);
    }
    // Of a change of owners or another wallet at the same time, this sees it, or it sees this.
    await lockAuditHead(tx, scope.accountId);
    const waitSeconds = (await hoursToWait(tx, scope, network, before.inForce)) * 3_600;
    if (waitSeconds > 0) await refuseWhileHeld(tx, scope, actor.id!);
    const put = { network, ...wallet, waitSeconds, requestedBy: actor.name };
    const { version, takesEffectAt } = await putWallet(context, tx, scope, put);
    if (takesEffectAt) await insertApproval(tx, scope, { network, version, personId: actor.id!, name: actor.name });
    const detail = {
      ...wallet,
      version,
      ...(before.inForce && { before: before.inForce.destination }),
      ...(takesEffectAt && { takesEffectAt: takesEffectAt.toISOString() }),
    };
    const { inForce, waiting } = pickWallet(await readWallets(context, tx, scope), network);
    return {
      value: { wallet: inForce ? walletOf(inForce, waiting) : null, pending: waiting ? changeOf(waiting) : null },
      deed: { action: takesEffectAt ? 'wallet.change_requested' : 'wallet.set', subject: network, detail },
    };
  };

/** The person has found the addresses in their own wallet. Applies only to the version they saw. */
export const confirmWallet =
  (context: Context, network: string, version: number): Work<Wallet> =>
  async (tx, { scope, actor }) => {
    await lockWallets(tx, scope, network);
    const { inForce, waiting } = pickWallet(await readWallets(context, tx, scope), network);
    if (!inForce) throw new FlorinError('not_found', 'No wallet is set for this network.');
    if (inForce.version !== version) {
      throw new FlorinError('conflict', 'The wallet has changed. Check its addresses first.');
    }
    const isNew = await verifyWallet(tx, scope, { network, version, verifiedBy: actor.name });
    const after = pickWallet(await listWallets(tx, scope), network);
    const detail = { version, destination: inForce.destination };
    return {
      value: walletOf(after.inForce!, waiting),
      deed: isNew ? { action: 'wallet.verified', subject: network, detail } : null,
    };
  };

/**
 * The contract at a treasury belongs to the merchant on this network, with the code that it has now. Also of a treasury
 * that was replaced since, because the money of its payments can go only there.
 */
export const confirmTreasury = async (
  context: Context,
  acting: Acting,
  { network, treasury }: { readonly network: string; readonly treasury: string },
): Promise<void> => {
  const caip2 = context.networks.configured(acting.scope.environment, network)?.caip2;
  // No transaction stays open while a node is asked.
  const code = caip2 === undefined ? null : await contractCode(context, caip2, treasury);
  await perform(context, acting, null, async (tx, { scope, actor }) => {
    await lockWallets(tx, scope, network);
    const wallet = await latestWalletOf(tx, scope, { network, destination: treasury });
    if (!wallet) throw new FlorinError('not_found', 'This treasury never was your payout address on this network.');
    assertSealed(context, scope, wallet);
    if (code === null) throw new FlorinError('service_unavailable', couldNotAsk(network).reason);
    if (code === '')
      throw new FlorinError('conflict', `The treasury is not a contract on ${networkName(network)} now.`);
    const confirmed = { network, treasury, codeHash: hashOfCode(code) };
    const isNew = await insertConfirmation(tx, scope, { ...confirmed, by: actor.name });
    const { version } = wallet;
    if (isNew) await verifyWallet(tx, scope, { network, version, verifiedBy: actor.name });
    const detail = { version, destination: treasury, codeHash: confirmed.codeHash };
    return { value: null, deed: isNew ? { action: 'wallet.verified', subject: network, detail } : null };
  });
};

/** The change with this id, and the wallets locked. Throws if it does not wait. */
const lockWaiting = async (tx: Queryable, scope: Scope, id: string): Promise<ShownWallet> => {
  const [, network] = /^([a-z0-9-]{1,40})-[1-9][0-9]{0,8}$/.exec(id) ?? [];
  if (network === undefined) throw noSuchChange();
  await lockWallets(tx, scope, network);
  const waiting = (await listWallets(tx, scope)).find(row => row.pending && changeId(row) === id);
  if (!waiting) throw noSuchChange();
  return waiting;
};

/** A second owner stands behind a change that waits. From then on it no longer keeps owners as they are. */
export const approveChange =
  (context: Pick<Context, 'vault' | 'log'>, id: string): Work<null> =>
  async (tx, { scope, actor }) => {
    const waiting = await lockWaiting(tx, scope, id);
    // A row that somebody else wrote to the database is not what its requester asked for.
    if (!isSealed(context.vault, scope, waiting)) throw noSuchChange();
    const { network, version, destination, requestedBy } = waiting;
    const approval = { network, version, personId: actor.id!, name: actor.name };
    if (!(await mayApprove(tx, scope, approval))) throw tooNew();
    if (!(await insertApproval(tx, scope, approval))) throw alreadyBehind();
    const detail = { version, destination, requestedBy };
    return { value: null, deed: { action: 'wallet.change_approved', subject: network, detail } };
  };

/** Anybody who may change wallets may stop a change, without a new proof: stopping loses nothing. */
export const stopChange =
  (id: string): Work<null> =>
  async (tx, { scope, actor }) => {
    const waiting = await lockWaiting(tx, scope, id);
    const { network, version } = waiting;
    const detail = { version, destination: waiting.destination, requestedBy: waiting.requestedBy };
    // After all locks are held: the change may take effect while this waits for the audit log.
    await lockAuditHead(tx, scope.accountId);
    if (!(await stopWallet(tx, scope, { network, version, stoppedBy: actor.name }))) throw noSuchChange();
    return { value: null, deed: { action: 'wallet.change_stopped', subject: network, detail } };
  };

const tooNew = (): FlorinError =>
  new FlorinError(
    'permission_denied',
    `Only somebody who was an owner for ${establishedDays} days before the change was requested can approve it.`,
  );
const alreadyBehind = (): FlorinError =>
  new FlorinError('conflict', 'You requested or approved this change yourself. Another owner must approve it.');

const noSuchChange = (): FlorinError =>
  new FlorinError('not_found', 'No pending change has this id. It has taken effect or was stopped.');

/** All pending changes of both environments, for everybody in the account. */
export const announceChanges = async (
  context: Context,
  accountId: string,
): Promise<(WalletChange & { environment: Environment })[]> => {
  const rows = await pendingWallets(context.db, accountId);
  return rows.map(row => {
    const { environment } = row;
    assertSealed(context, { accountId, environment }, row);
    return { ...changeOf(row), environment };
  });
};
