import { Type } from 'typebox';
import { storable, strict } from '../../core/api/fields.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import { readUnswept } from '../../engine/settlement/readUnswept.ts';
import { paymentsInSweep } from '../../engine/settlement/sweepBatches.ts';
import { planSweep } from '../../engine/settlement/sweepPlan.ts';
import { recentSweeps, recordSweep } from '../../engine/settlement/sweeps.ts';
import { readDifferences, readUnclaimed } from '../../engine/settlement/unclaimedFunds.ts';
import { confirmTreasury } from '../../engine/wallets/wallets.ts';
import { actingOf } from './actingOf.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const treasury = Type.String({ ...storable, maxLength: 64 });
const token = { network: Type.String({ maxLength: 40 }), currency: Type.String({ maxLength: 20 }) };

/** Funds at receiving addresses, and sweeps to the treasury. The server signs and sends nothing. */
export const settlementRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'GET /settlement',
    action: 'settlement.read',
    handle: async ({ scope }) => {
      // Sweeps first: otherwise a sweep could show as landed while its funds still show as unswept.
      const sweeps = await recentSweeps(context, scope);
      const [unswept, unclaimed, differences] = await Promise.all([
        readUnswept(context, scope),
        readUnclaimed(context, scope),
        readDifferences(context, scope),
      ]);
      return { unswept, sweeps, unclaimed, differences };
    },
  }),
  route({
    name: 'POST /settlement/plan',
    action: 'settlement.sweep',
    body: Type.Object({ ...token, treasury }, strict),
    handle: call => planSweep(context, call.scope, call.body),
  }),
  // Step-up: money moves to this address afterwards.
  route({
    name: 'POST /settlement/confirm',
    action: 'wallets.manage',
    stepUp: 'environment',
    body: Type.Object({ network: token.network, treasury }, strict),
    async handle(call) {
      await confirmTreasury(context, actingOf(call), call.body);
      return { done: true } as const;
    },
  }),
  route({
    name: 'POST /settlement/sweeps',
    action: 'settlement.sweep',
    body: Type.Object(
      {
        ...token,
        txHash: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
        payments: Type.Array(Type.String({ maxLength: 40 }), { minItems: 1, maxItems: paymentsInSweep }),
      },
      strict,
    ),
    handle: call => perform(context, actingOf(call), null, recordSweep(context, call.body)),
  }),
];
