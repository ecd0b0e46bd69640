import type { Scope } from '../../core/environment.ts';
import type { EventOfDelivery } from '../../storage/webhooks/deliveries.ts';
import type { EventRow } from '../../storage/webhooks/eventLog.ts';
import {
  callbackSealValues,
  eventSealValues,
  type SealedCallback,
  type SealedEvent,
} from '../../storage/webhooks/sealedEvents.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Context } from '../context.ts';

export const sealEvent = (vault: Vault, event: SealedEvent): Buffer => vault.rowSeal('events', eventSealValues(event));

type AccountEvent = Pick<SealedEvent, 'id' | 'type' | 'body' | 'createdAt'>;

/** Adds the seal of an event without a payment. */
export const accountEvent = <E extends AccountEvent>(vault: Vault, scope: Scope, event: E): E & { seal: Buffer } => {
  const { accountId, environment } = scope;
  const payment = { paymentId: null, sequence: null, status: null, exception: null };
  const previous = { previousStatus: null, previousException: null };
  return { ...event, seal: sealEvent(vault, { ...event, accountId, environment, ...payment, ...previous }) };
};

export const sealCallback = (vault: Vault, callback: SealedCallback): Buffer =>
  vault.rowSeal('deliveries', callbackSealValues(callback));

export const isEventSealed = (vault: Vault, event: SealedEvent & { readonly seal: Buffer | null }): boolean =>
  event.seal !== null && vault.isRowSeal('events', eventSealValues(event), event.seal);

type Parts = Pick<Context, 'vault' | 'log'>;

/** Whether Florin wrote the event so. Others are left out of what is read, as if they were not there. */
export const isGenuineEvent = ({ vault, log }: Parts, event: EventRow): boolean => {
  if (isEventSealed(vault, event)) return true;
  log.error({ forged: 'events', eventId: event.id, accountId: event.accountId }, 'an event does not match its seal');
  return false;
};

const eventOf = (delivery: EventOfDelivery): SealedEvent & { readonly seal: Buffer | null } => ({
  accountId: delivery.accountId,
  environment: delivery.environment,
  id: delivery.eventId,
  paymentId: delivery.paymentId,
  sequence: delivery.eventSequence,
  type: delivery.type,
  status: delivery.eventStatus,
  exception: delivery.eventException,
  previousStatus: delivery.previousStatus,
  previousException: delivery.previousException,
  body: delivery.body,
  createdAt: delivery.eventCreatedAt,
  seal: delivery.eventSeal,
});

/** Endpoints have seals of their own. */
const isTargetSealed = (vault: Vault, delivery: EventOfDelivery): boolean =>
  delivery.endpointId !== null ||
  (delivery.callbackSeal !== null &&
    vault.isRowSeal('deliveries', callbackSealValues(delivery), delivery.callbackSeal));

/** Why a delivery must be neither sent nor shown: its event or its target is not as Florin wrote it. Null if both are. */
export const forgeryOf = ({ vault, log }: Parts, delivery: EventOfDelivery): string | null => {
  const { id: deliveryId, eventId, accountId } = delivery;
  if (!isEventSealed(vault, eventOf(delivery))) {
    log.error({ forged: 'events', eventId, deliveryId, accountId }, 'an event does not match its seal');
    return 'the event was changed in the database';
  }
  if (!isTargetSealed(vault, delivery)) {
    log.error({ forged: 'deliveries', deliveryId, eventId, accountId }, 'a callback does not match its seal');
    return 'the callback was changed in the database';
  }
  return null;
};
