import { type ReactElement, useState } from 'react';
import type { Payment } from '../../../src/core/api/payment.ts';
import { StatusBadge } from '../kit/badge.tsx';
import { Button, ButtonLink } from '../kit/button.tsx';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { Submit } from '../kit/form.tsx';
import { Money } from '../kit/money.tsx';
import { Notice } from '../kit/page.tsx';
import { Answer, ErrorBox } from '../kit/states.tsx';
import { NewPaymentForm } from '../money/newPayment.tsx';
import { openMs } from '../money/openPayment.ts';
import { useAct, useAnswer } from '../serverCalls.ts';
import { Step } from './step.tsx';

const Following = ({ payment }: { payment: Payment }): ReactElement => {
  const simulate = useAct('POST /payments/:id/simulate', { refresh: ['GET /payments'] });
  const isDone = payment.status === 'completed';
  return (
    <>
      <p className="payment-amount" aria-live="polite">
        <Money amount={payment.amount} currency={payment.currency} />
        <StatusBadge status={payment.status} />
      </p>
      {simulate.error && <ErrorBox error={simulate.error} />}
      {isDone && (
        <Notice tone="good">
          <p>
            <strong>Your first test payment is completed.</strong> Its page shows every step.
          </p>
        </Notice>
      )}
      <div className="row">
        {payment.status === 'pending' && (
          <Button
            kind="primary"
            isBusy={simulate.isPending || simulate.isSuccess}
            onClick={() => simulate.mutate({ params: { id: payment.id }, body: { outcome: 'paid' } })}
          >
            Pay with test money
          </Button>
        )}
        <ButtonLink to={`/payments/${payment.id}`} kind={isDone ? 'primary' : 'plain'}>
          Show payment
        </ButtonLink>
        <a className="button button-plain" href={payment.checkoutUrl} target="_blank" rel="noreferrer">
          Open checkout
        </a>
      </div>
    </>
  );
};

/** Follows the latest payment, whether it was made here or in the terminal. */
export const PaymentStep = (): ReactElement => {
  const [id, setId] = useState<string | null>(null);
  const networks = useAnswer('GET /networks');
  const payments = useAnswer('GET /payments', { query: { limit: 10 } }, { everyMs: () => openMs });
  const all = payments.data?.data ?? [];
  const followed = all.find(payment => payment.id === id) ?? all[0];
  return (
    <Step number={4} title="Complete a test payment" isDone={followed?.status === 'completed'}>
      <p className="muted">
        {followed
          ? 'This is your latest payment. Its status updates here.'
          : 'Run the command of step 1, or create a payment here.'}
      </p>
      {payments.isError && <ErrorBox error={payments.error} onRetry={payments.refetch} />}
      {followed && <Following key={followed.id} payment={followed} />}
      {followed && (
        <>
          <p>To pay it from a terminal, run:</p>
          <CodeBlock label="Command to pay" code={`npx florin pay ${followed.id}`} />
        </>
      )}
      {!followed && (
        <Answer of={networks} lines={3}>
          {({ data }) => (
            <NewPaymentForm networks={data} onMade={made => setId(made.id)}>
              <div>
                <Submit kind="plain">Create payment</Submit>
              </div>
            </NewPaymentForm>
          )}
        </Answer>
      )}
    </Step>
  );
};
