import type { Outgoing } from '../../core/outbox.ts';
import type { Queryable } from '../../storage/database.ts';
import { type ClaimedOutgoing, insertOutgoing } from '../../storage/outbox.ts';
import type { Context } from '../context.ts';

const contextOf = (id: string, kind: string): string[] => ['outbox', kind, id];

/** Queues what is to be sent, inside the transaction of what it tells. */
export const enqueue = (
  { clock, ids, vault }: Pick<Context, 'clock' | 'ids' | 'vault'>,
  tx: Queryable,
  outgoing: readonly Outgoing[],
): Promise<void> =>
  insertOutgoing(
    tx,
    outgoing.map(each => {
      const { id } = ids.next('outgoing', clock.nowMs());
      return { id, kind: each.kind, content: vault.seal(JSON.stringify(each), contextOf(id, each.kind)) };
    }),
  );

export const openOutgoing = ({ vault }: Pick<Context, 'vault'>, { id, kind, content }: ClaimedOutgoing): Outgoing =>
  JSON.parse(vault.open(content, contextOf(id, kind)).toString('utf8')) as Outgoing;
