import type { ReactElement } from 'react';
import { call } from '../client.ts';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Card } from '../kit/page.tsx';
import { base } from '../pageLocation.ts';
import { useSession } from '../session.tsx';

/** Creates a further account, if the operator allows it. The app then starts anew in that account. */
export const AccountsCard = (): ReactElement | null => {
  if (!useSession().mayAddAccounts) return null;
  return (
    <Card title="New account" lead="Another account has its own keys, wallets, payments and team. You are its owner.">
      <Form
        label="New account"
        onSubmit={async values => {
          await call('POST /accounts', { body: { name: values.text('accountName') } });
          location.assign(base);
        }}
      >
        <Field label="Name of the account" name="accountName" maxLength={200} required />
        <FormError />
        <Submit kind="plain">Create account</Submit>
      </Form>
    </Card>
  );
};
