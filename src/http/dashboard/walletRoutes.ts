import Type from 'typebox';
import { storable, strict } from '../../core/api/fields.ts';
import { readAnnounced } from '../../engine/audit/readAnnounced.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import {
  announceChanges,
  approveChange,
  confirmWallet,
  previewWallet,
  requestWallet,
  showWallets,
  stopChange,
} from '../../engine/wallets/wallets.ts';
import { listRecoveries } from '../../storage/access/recoveryLinks.ts';
import { readOpenReview } from '../../storage/chain/restoreReviews.ts';
import { actingOf } from './actingOf.ts';
import { auditObject } from './auditObject.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const destination = Type.Object(
  {
    network: Type.String({ maxLength: 40 }),
    treasury: Type.Optional(Type.String({ ...storable, maxLength: 300 })),
    xpub: Type.Optional(Type.String({ ...storable, maxLength: 300 })),
  },
  strict,
);
const seenVersion = Type.Object({ version: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }) }, strict);

/** Payout wallets and their pending changes. */
export const walletRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'GET /wallets',
    action: 'wallets.read',
    handle: async ({ scope }) => ({ data: await showWallets(context, scope) }),
  }),
  route({
    name: 'POST /wallets/preview',
    action: 'wallets.manage',
    body: destination,
    handle: ({ scope, body, person }) => previewWallet(context, scope, body, person.personId),
  }),
  route({
    name: 'POST /wallets',
    action: 'wallets.manage',
    stepUp: 'environment',
    body: destination,
    handle: call => perform(context, actingOf(call), null, requestWallet(context, call.body)),
  }),
  route({
    name: 'POST /wallets/:network/verify',
    action: 'wallets.manage',
    body: seenVersion,
    handle: call =>
      perform(context, actingOf(call), null, confirmWallet(context, call.params.network!, call.body.version)),
  }),
  // No step-up: stopping an unwanted change must be quick.
  route({
    name: 'POST /wallet-changes/:id/stop',
    action: 'wallets.manage',
    async handle(call) {
      await perform(context, actingOf(call), null, stopChange(call.params.id!));
      return { done: true } as const;
    },
  }),
  route({
    name: 'POST /wallet-changes/:id/approve',
    action: 'wallets.approve',
    stepUp: 'environment',
    async handle(call) {
      await perform(context, actingOf(call), null, approveChange(context, call.params.id!));
      return { done: true } as const;
    },
  }),
  route({
    name: 'GET /announcements',
    action: 'wallets.read',
    async handle({ person, scope: { accountId } }) {
      const [walletChanges, recoveries, acts, restoredAt] = await Promise.all([
        announceChanges(context, accountId),
        listRecoveries(context.db, accountId),
        readAnnounced(context, person),
        readOpenReview(context.db, accountId),
      ]);
      return {
        walletChanges,
        recoveries: recoveries.map(({ email, opensAt }) => ({ email, opensAt: opensAt.toISOString() })),
        acts: acts.map(row => ({ ...auditObject(row), address: null })),
        restoredAt: restoredAt?.toISOString() ?? null,
      };
    },
  }),
];
