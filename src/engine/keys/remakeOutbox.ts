import { readOutboxPage, rewriteOutbox, type StoredOutgoing } from '../../storage/keys/remadeValues.ts';
import { outgoingContext } from '../audit/outbox.ts';
import { forged, type Remaking, type Round, remakePageRows, resealed } from './remaking.ts';

/** Encrypts anew what waits to be sent. */
export const remakeOutbox = async (remaking: Remaking, round: Round): Promise<void> => {
  let rows = 0;
  for (let after = ''; ; ) {
    const page: StoredOutgoing[] = await readOutboxPage(remaking.db, after, remakePageRows);
    const remade = page.flatMap(({ id, kind, content: was }) => {
      const content = resealed(remaking, was, outgoingContext(id, kind));
      if (content === forged) round.forged.push(`outbox ${id}`);
      return content === forged || content === was ? [] : [{ id, was, content }];
    });
    const written = await rewriteOutbox(remaking.db, remade);
    round.remade += written;
    round.left += remade.length - written;
    rows += page.length;
    remaking.progress('outbox', rows);
    if (page.length < remakePageRows) return;
    after = page.at(-1)!.id;
  }
};
