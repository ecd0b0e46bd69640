import { type ReactElement, useState } from 'react';
import { useAct } from '../asking.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Icon } from '../kit/icon.tsx';
import { Money } from '../kit/money.tsx';
import { useMay } from '../session.tsx';
import { isResolvable, type ShownPayment } from './shownPayment.ts';

const outcomes = [
  ['paid', 'Paid in full'],
  ['underpaid', 'Half of it paid'],
  ['overpaid', 'Too much paid'],
  ['late', 'Paid too late'],
  ['reorg', 'Undone by a reorg'],
  ['wrong_token', 'Paid in another token'],
] as const;

const shownBy = ['GET /payments/:id', 'GET /payments', 'GET /home'] as const;

/** Real transactions of the local chain, as the checkout's own panel makes them. */
export const Simulate = ({ payment }: { payment: ShownPayment }): ReactElement => {
  const simulate = useAct('POST /payments/:id/simulate', { refresh: shownBy });
  const [outcome, setOutcome] = useState<string>('paid');
  return (
    <div className="simulate">
      <label>
        <span>What happens</span>
        <select value={outcome} onChange={event => setOutcome(event.target.value)}>
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
              onSuccess: () => say('Done. The timeline follows within seconds.'),
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

export const PaymentActions = ({ payment }: { payment: ShownPayment }): ReactElement => {
  const [asked, setAsked] = useState<'cancel' | 'resolve' | null>(null);
  const [mayCancel, mayResolve] = [useMay('payments.cancel'), useMay('payments.resolve')];
  const cancel = useAct('POST /payments/:id/cancel', { refresh: shownBy });
  const resolve = useAct('POST /payments/:id/resolve', { refresh: shownBy });
  const params = { id: payment.id };
  return (
    <>
      <a className="button button-plain" href={payment.checkoutUrl} target="_blank" rel="noreferrer">
        <Icon name="external" />
        Checkout
      </a>
      {mayResolve && isResolvable(payment) && (
        <Button onClick={() => setAsked('resolve')}>Accept what was received</Button>
      )}
      {mayCancel && payment.status === 'pending' && <Button onClick={() => setAsked('cancel')}>Cancel payment</Button>}
      <Confirm
        isOpen={asked === 'cancel'}
        onClose={() => setAsked(null)}
        title="Cancel this payment?"
        verb="Cancel the payment"
        act={() => cancel.mutateAsync({ params })}
      >
        <p>
          The payer can no longer pay it. Money that is sent to its address anyway is shown, and you can still accept
          it.
        </p>
      </Confirm>
      <Confirm
        isOpen={asked === 'resolve'}
        onClose={() => setAsked(null)}
        title="Accept what was received?"
        verb="Accept it"
        refusal="Not now"
        kind="primary"
        act={() => resolve.mutateAsync({ params })}
      >
        <p>
          <Money amount={payment.amountReceived} currency={payment.currency} /> of{' '}
          <Money amount={payment.amount} currency={payment.currency} /> then count as the whole payment. It completes
          once they are confirmed. This cannot be taken back.
        </p>
      </Confirm>
    </>
  );
};
