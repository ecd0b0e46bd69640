import type { Scope } from '../../core/environment.ts';
import type { EventType } from '../../core/payment/states.ts';
import { insertAccountEvent } from '../../storage/webhooks/events.ts';
import type { AdminContext } from '../access/accounts.ts';
import type { EnvironmentSettings } from '../context.ts';
import { accountEvent } from './eventSeal.ts';
import { renderTestEvent } from './testEvent.ts';

/** Creates an event of this kind with a sample payment, for every subscribed endpoint. */
export const triggerEvent = async (
  context: AdminContext,
  scope: Scope,
  type: EventType,
  settings: Pick<EnvironmentSettings, 'checkoutUrl'>,
): Promise<{ id: string; endpoints: number }> => {
  const { id, ms: atMs } = context.ids.next('event', context.clock.nowMs());
  const body = renderTestEvent(settings, { id, type, atMs, environment: scope.environment, endpointId: null });
  const event = accountEvent(context.vault, scope, { id, type, body, createdAt: new Date(atMs), trace: null });
  const endpoints = await insertAccountEvent(context.db, scope, event);
  return { id, endpoints };
};
