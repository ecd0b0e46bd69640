import { FlorinError } from '../../core/errors.ts';
import {
  type Erasure,
  erasedAnswer,
  erasedEventBody,
  erasedFields,
  serverOf,
} from '../../core/payment/personalTexts.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  cutCallbacks,
  type ErasedEvent,
  erasePaymentRow,
  eraseResponses,
  readAnswers,
  readHistory,
  readResendAnswers,
  stopCallbacks,
  writeErasedAnswer,
  writeErasedEvents,
} from '../../storage/payments/erasing.ts';
import { lockPayments, type PaymentRow } from '../../storage/payments/payments.ts';
import { answerSealValues } from '../../storage/sealedAnswers.ts';
import type { Context } from '../context.ts';
import { sealAnswer } from '../idempotency.ts';
import type { Work } from '../perform.ts';
import { isEventSealed, sealCallback, sealEvent } from '../webhooks/eventSeal.ts';
import { hasValidSeal } from './paymentAddress.ts';
import { sealPayment } from './paymentSeal.ts';
import { noSuchPayment } from './readPayment.ts';

type Parts = Pick<Context, 'vault'>;

/** What was changed: rows that had something to erase. */
export type Erased = {
  readonly payment: boolean;
  readonly events: number;
  /** What receivers answered. */
  readonly responses: number;
  /** Kept answers to requests with an Idempotency-Key. */
  readonly answers: number;
};

/** Events are read and written in parts: a flood of strays makes thousands. */
const pageEvents = 200;

/** Rows that somebody changed are not sealed anew: that would make them right. */
const changedInDatabase = (what: string): FlorinError =>
  new FlorinError(
    'conflict',
    `${what} was changed in the database. Nothing of this payment was erased. Run florin doctor.`,
  );

/** While money may come, its payer must see what it is for. */
export const refuseOpen = ({ id, status }: { readonly id: string; readonly status: string }): void => {
  if (status !== 'pending' && status !== 'confirming') return;
  const next = status === 'pending' ? 'Cancel it, or wait until it has ended.' : 'Wait until it has ended.';
  throw new FlorinError('conflict', `${id} is ${status}. Its payer still needs its description. ${next}`);
};

const erasedRow = (row: PaymentRow, { externalId, callbackUrl }: Erasure): PaymentRow => ({
  ...row,
  description: null,
  metadata: '{}',
  redirectUrl: null,
  externalId: externalId ? null : row.externalId,
  callbackUrl: callbackUrl ? null : row.callbackUrl,
});

const hasTexts = (row: PaymentRow, erasure: Erasure): boolean =>
  row.description !== null ||
  row.metadata !== '{}' ||
  row.redirectUrl !== null ||
  (erasure.externalId && row.externalId !== null) ||
  (erasure.callbackUrl && row.callbackUrl !== null);

const eraseRow = async ({ vault }: Parts, tx: Queryable, row: PaymentRow, erasure: Erasure): Promise<boolean> => {
  if (!hasTexts(row, erasure)) return false;
  const after = erasedRow(row, erasure);
  await erasePaymentRow(tx, row, { ...after, seal: sealPayment(vault, after) });
  return true;
};

const eraseHistory = async (parts: Parts, tx: Queryable, row: PaymentRow, erasure: Erasure) => {
  const { vault } = parts;
  const { accountId, environment } = row;
  const from = erasure.callbackUrl ? row.callbackUrl : null;
  let [events, responses] = [0, 0];
  for (let sequence = 0; ; ) {
    const page = await readHistory(tx, row, sequence, pageEvents);
    if (page.some(event => !isEventSealed(vault, event))) throw changedInDatabase(`The history of ${row.id}`);
    const erased = page.flatMap((event): ErasedEvent[] => {
      const body = erasedEventBody(event.body, erasure);
      if (body === event.body) return [];
      return [{ accountId, environment, id: event.id, body, seal: sealEvent(vault, { ...event, body }) }];
    });
    if (erased.length > 0) await writeErasedEvents(tx, erased);
    const ids = page.map(({ id }) => id);
    if (ids.length > 0) responses += await eraseResponses(tx, row, ids);
    if (from !== null) {
      const to = serverOf(from);
      const cut = ids.map(eventId => ({
        eventId,
        seal: sealCallback(vault, { accountId, environment, eventId, url: to }),
      }));
      if (cut.length > 0) await cutCallbacks(tx, row, { from, to }, cut);
    }
    events += erased.length;
    if (page.length < pageEvents) return { events, responses };
    sequence = page.at(-1)!.sequence!;
  }
};

const eraseAnswers = async ({ vault }: Parts, tx: Queryable, row: PaymentRow, erasure: Erasure): Promise<number> => {
  const resends = erasure.callbackUrl ? await readResendAnswers(tx, row) : [];
  let answers = 0;
  for (const kept of [...(await readAnswers(tx, row, row.createdAt)), ...resends]) {
    const isSealed = kept.seal !== null && vault.isRowSeal('idempotency_keys', answerSealValues(kept), kept.seal);
    if (!isSealed) throw changedInDatabase(`A kept answer about ${row.id}`);
    const response = erasedAnswer(kept.response!, row.id, erasure);
    if (response === kept.response) continue;
    await writeErasedAnswer(tx, kept, { response, seal: sealAnswer(vault, { ...kept, response }) });
    answers += 1;
  }
  return answers;
};

/**
 * Erases the texts of a payment that may name a person: in its row, its events, what receivers answered, and kept answers.
 * Everything else stays, and is sealed again without the texts. A second time finds nothing to do.
 */
export const erasePayment =
  (parts: Parts, { id, ...scope }: PaymentKey, erasure: Erasure): Work<Erased> =>
  async tx => {
    // With the lock, no event with the texts is written meanwhile.
    const [row] = await lockPayments(tx, [{ ...scope, id }], 'wait');
    if (!row) throw noSuchPayment();
    if (!hasValidSeal(parts, row)) throw changedInDatabase(`The payment ${id}`);
    refuseOpen(row);
    const payment = await eraseRow(parts, tx, row, erasure);
    if (erasure.callbackUrl && row.callbackUrl !== null) await stopCallbacks(tx, row);
    const erased = {
      payment,
      ...(await eraseHistory(parts, tx, row, erasure)),
      answers: await eraseAnswers(parts, tx, row, erasure),
    };
    const { events, responses, answers } = erased;
    const isNothing = !payment && events + responses + answers === 0;
    const detail = { fields: erasedFields(erasure), events, responses, answers };
    return { value: erased, deed: isNothing ? null : { action: 'payment.erased', subject: id, detail } };
  };
