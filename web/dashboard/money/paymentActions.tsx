import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import type { Payment } from '../../../src/core/api/payment.ts';
import type { SimulatedOutcome } from '../../../src/core/payment/simulatedOutcomes.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Icon } from '../kit/icon.tsx';
import { Money } from '../kit/money.tsx';
import { useAct } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

const outcomes = [
  ['paid', 'Paid in full'],
  ['underpaid', 'Underpaid'],
  ['overpaid', 'Overpaid'],
  ['late', 'Paid late'],
  ['reorg', 'Reversed by a reorganization'],
  ['wrong_token', 'Paid in the wrong token'],
] as const satisfies [SimulatedOutcome, string][];

const shownBy = ['GET /payments/:id', 'GET /payments', 'GET /home'] as const;

/** Sends real transactions on the local chain, like the panel of the checkout. */
export const Simulate = ({ payment }: { payment: Payment }): ReactElement => {
  const simulate = useAct('POST /payments/:id/simulate', { refresh: shownBy });
  const [outcome, setOutcome] = useState<SimulatedOutcome>('paid');
  return (
    <div className="simulate">
      <label>
        <span>Simulate a payer</span>
        <select value={outcome} onChange={event => setOutcome(event.target.value as SimulatedOutcome)}>
          {outcomes.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <Button
        isBusy={simulate.isPending}
        onClick={() =>
          simulate.mutate(
            { params: { id: payment.id }, body: { outcome } },
            {
              onSuccess: () => say('Transaction sent. The timeline updates in a few seconds.'),
              onError: error => say(error.message, 'bad'),
            },
          )
        }
      >
        Simulate
      </Button>
    </div>
  );
};

/** Offers only actions that the server would accept. */
export const PaymentActions = ({
  payment,
  allows,
}: {
  payment: Payment;
  allows: AnswerOf<'GET /payments/:id'>['allows'];
}): ReactElement => {
  const [asked, setAsked] = useState<'cancel' | 'resolve' | null>(null);
  const [mayCancel, mayResolve] = [useMay('payments.cancel'), useMay('payments.resolve')];
  const cancel = useAct('POST /payments/:id/cancel', { refresh: shownBy });
  const resolve = useAct('POST /payments/:id/resolve', { refresh: shownBy });
  const params = { id: payment.id };
  return (
    <>
      <a className="button button-plain" href={payment.checkoutUrl} target="_blank" rel="noreferrer">
        <Icon name="external" />
        Open checkout
      </a>
      {mayResolve && allows.resolve && <Button onClick={() => setAsked('resolve')}>Accept amount received</Button>}
      {mayCancel && allows.cancel && <Button onClick={() => setAsked('cancel')}>Cancel payment</Button>}
      <Confirm
        isOpen={asked === 'cancel'}
        onClose={() => setAsked(null)}
        title="Cancel this payment?"
        verb="Yes, cancel payment"
        refusal="Keep payment"
        act={() => cancel.mutateAsync({ params })}
      >
        <p>
          The checkout stops asking for money. If the payer sends money anyway, it appears here, and you can accept it.
        </p>
      </Confirm>
      <Confirm
        isOpen={asked === 'resolve'}
        onClose={() => setAsked(null)}
        title="Accept the amount received?"
        verb="Accept as full payment"
        refusal="Not now"
        kind="primary"
        act={() => resolve.mutateAsync({ params, body: { expectedAmount: payment.amountReceived } })}
      >
        <p>
          <Money amount={payment.amountReceived} currency={payment.currency} /> of{' '}
          <Money amount={payment.amount} currency={payment.currency} /> counts as full payment. The payment completes
          once the funds are confirmed. You cannot undo this.
        </p>
      </Confirm>
    </>
  );
};
