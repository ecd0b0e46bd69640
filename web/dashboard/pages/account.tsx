import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { AccountsCard } from '../account/accountsCard.tsx';
import { PasskeysCard } from '../account/passkeysCard.tsx';
import { SessionsCard } from '../account/sessionsCard.tsx';
import { TotpCard } from '../account/totpCard.tsx';
import { call } from '../client.ts';
import { say } from '../kit/announce.tsx';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Card, Facts, Notice, Page } from '../kit/page.tsx';
import { Time } from '../kit/time.tsx';
import { NewPassword, samePassword } from '../newPassword.tsx';
import { roleNames } from '../roleNames.ts';
import { sessionKey, useSession } from '../session.tsx';

const Profile = (): ReactElement => {
  const { person } = useSession();
  const client = useQueryClient();
  return (
    <Card title="Profile">
      <Facts
        facts={[
          ['Email', person.email],
          ['Role', roleNames[person.role]],
        ]}
      />
      <Form
        onSubmit={async values => {
          await call('PATCH /me', { body: { name: values.text('name') } });
          await client.invalidateQueries({ queryKey: sessionKey });
          say('Name saved.');
        }}
      >
        <Field label="Name" name="name" defaultValue={person.name} autoComplete="name" maxLength={100} required />
        <FormError />
        <Submit kind="plain">Save</Submit>
      </Form>
    </Card>
  );
};

const Password = (): ReactElement => {
  const { person } = useSession();
  const client = useQueryClient();
  return (
    <Card title="Password" lead="If you change it, your other sessions are signed out.">
      <Form
        onSubmit={async (values, form) => {
          await call('POST /me/password', { body: { password: samePassword(values) } });
          form.reset();
          await client.invalidateQueries();
          say('Password changed.');
        }}
      >
        <input type="text" name="username" autoComplete="username" value={person.email} readOnly hidden />
        <NewPassword />
        <FormError />
        <Submit kind="plain">{person.hasPassword ? 'Change password' : 'Set a password'}</Submit>
      </Form>
    </Card>
  );
};

const Account = (): ReactElement => {
  const { person, earlierSignInUntil } = useSession();
  const isWeak = person.passkeys === 0 && !person.hasTotp;
  return (
    <Page title="My account">
      {isWeak && (
        <Notice tone="care">
          <p>
            <strong>Only your password protects this account.</strong> Add a passkey or an authenticator app. Live keys,
            wallets and secrets need one.
          </p>
        </Notice>
      )}
      {earlierSignInUntil !== null && (
        <Notice>
          <p>
            Your sign-in was changed. Until <Time at={earlierSignInUntil} />, the way you signed in before works, too:
            choose “My sign-in was changed” on the sign-in page. That undoes the change.
          </p>
        </Notice>
      )}
      <PasskeysCard />
      <TotpCard />
      <div className="two-columns">
        <Profile />
        <Password />
      </div>
      <SessionsCard />
      <AccountsCard />
    </Page>
  );
};

export default Account;
