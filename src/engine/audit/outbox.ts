import type { Outgoing } from '../../core/outbox.ts';
import type { Queryable } from '../../storage/database.ts';
import { type ClaimedOutgoing, insertOutgoing, type NewOutgoing } from '../../storage/outbox.ts';
import type { Context } from '../context.ts';

/** What a message is encrypted for. */
export const outgoingContext = (id: string, kind: string): string[] => ['outbox', kind, id];

const sealed = ({ vault }: Pick<Context, 'vault'>, id: string, outgoing: Outgoing): NewOutgoing => {
  const { kind } = outgoing;
  return { id, kind, content: vault.seal(JSON.stringify(outgoing), outgoingContext(id, kind)) };
};

/** Queues what is to be sent, inside the transaction of what it tells. */
export const enqueue = (
  context: Pick<Context, 'clock' | 'ids' | 'vault'>,
  tx: Queryable,
  outgoing: readonly Outgoing[],
): Promise<void> => {
  const nextId = (): string => context.ids.next('outgoing', context.clock.nowMs()).id;
  return insertOutgoing(
    tx,
    outgoing.map(each => sealed(context, nextId(), each)),
  );
};

/** Queues it under an id that the caller finds again. */
export const enqueueAs = (
  context: Pick<Context, 'vault'>,
  tx: Queryable,
  id: string,
  outgoing: Outgoing,
): Promise<void> => insertOutgoing(tx, [sealed(context, id, outgoing)]);

export const openOutgoing = ({ vault }: Pick<Context, 'vault'>, { id, kind, content }: ClaimedOutgoing): Outgoing =>
  JSON.parse(vault.open(content, outgoingContext(id, kind)).toString('utf8')) as Outgoing;
