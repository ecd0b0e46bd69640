import { type ReactElement, useState } from 'react';
import { call } from '../client.ts';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { OutsidePage } from '../kit/page.tsx';
import { AppLink } from '../link.tsx';
import { outsideHref } from '../pageLocation.ts';

/** Asks for a recovery link by mail. It never tells whether the address has a sign-in. */
const Forgotten = (): ReactElement => {
  const [email, setEmail] = useState<string | null>(null);
  return (
    <OutsidePage title="Forgot your password?">
      {email === null ? (
        <Form
          onSubmit={async values => {
            const given = values.text('email');
            await call('POST /recovery/request', { body: { email: given } });
            setEmail(given);
          }}
        >
          <p>We send you a link to set a new password. It removes your authenticator app and your passkeys.</p>
          <Field label="Email" name="email" type="email" autoComplete="username" required />
          <FormError />
          <Submit>Send the link</Submit>
        </Form>
      ) : (
        <p role="status">
          If <strong>{email}</strong> has a sign-in here, the link arrives within some minutes. Where your accounts have
          another owner, or you have a second factor, it opens after 24 hours.
        </p>
      )}
      <div className="row outside-links">
        <AppLink href={outsideHref('/sign-in')}>Back to the sign-in</AppLink>
      </div>
    </OutsidePage>
  );
};

export default Forgotten;
