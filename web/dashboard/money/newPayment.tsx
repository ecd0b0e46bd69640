import { type ReactElement, useState } from 'react';
import type { PayableNetwork } from '../../../src/core/api/moneyApi.ts';
import type { Payment } from '../../../src/core/api/payment.ts';
import { Button } from '../kit/button.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Field, Select } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { networkName } from '../kit/networkName.ts';
import { Answer } from '../kit/states.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';

export const NewPaymentForm = ({
  networks,
  onMade,
  children,
}: {
  networks: readonly PayableNetwork[];
  onMade: (payment: Payment) => void;
  children: ReactElement;
}): ReactElement => {
  const [slug, setSlug] = useState(networks[0]?.slug ?? '');
  const create = useAct('POST /payments', { refresh: ['GET /payments', 'GET /home'] });
  const currencies = networks.find(network => network.slug === slug)?.currencies ?? [];
  return (
    <Form
      onSubmit={async values => {
        const description = values.text('description');
        const body = {
          amount: values.text('amount'),
          currency: values.text('currency'),
          network: values.text('network'),
          ...(description ? { description } : {}),
        };
        onMade(await create.mutateAsync({ body }));
      }}
    >
      <Select
        label="Network"
        name="network"
        value={slug}
        onChange={event => setSlug(event.target.value)}
        options={networks.map(({ slug }) => ({ value: slug, label: networkName(slug) }))}
      />
      <div className="field-row">
        <Field label="Amount" name="amount" inputMode="decimal" defaultValue="25.00" required />
        <Select
          key={slug}
          label="Currency"
          name="currency"
          defaultValue={currencies.find(({ symbol }) => symbol === 'USDC')?.symbol}
          options={currencies.map(({ symbol }) => ({ value: symbol, label: symbol }))}
        />
      </div>
      <Field label="Description (optional)" name="description" maxLength={500} hint="Shown to the payer." />
      <FormError />
      {children}
    </Form>
  );
};

export const NewPaymentDialog = ({
  isOpen,
  onClose,
  onMade,
}: {
  isOpen: boolean;
  onClose: () => void;
  onMade: (payment: Payment) => void;
}): ReactElement => {
  const networks = useAnswer('GET /networks', {}, { isEnabled: isOpen });
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="New payment">
      <Answer of={networks} lines={4}>
        {({ data }) => (
          <NewPaymentForm networks={data} onMade={onMade}>
            <Buttons>
              <Submit>Create payment</Submit>
              <Button onClick={onClose}>Cancel</Button>
            </Buttons>
          </NewPaymentForm>
        )}
      </Answer>
    </Dialog>
  );
};
