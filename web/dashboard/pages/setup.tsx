import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { type CallError, call } from '../client.ts';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { OutsidePage } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { AppLink } from '../link.tsx';
import { NewSignIn, newProofs } from '../newSignIn.tsx';
import { hrefIn, navigate, outsideHref } from '../pageLocation.ts';
import { useKeepSession } from '../session.tsx';

/** The token is after the #. Browsers do not send that part to the server. */
const tokenHere = (): string => location.hash.slice(1);

const Setup = (): ReactElement => {
  const [token] = useState(tokenHere);
  const keepSession = useKeepSession();
  const check = useQuery<{ accountName: string }, CallError>({
    queryKey: ['POST /setup/check', token],
    queryFn: () => call('POST /setup/check', { body: { token } }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  return (
    <OutsidePage title="Set up Florin" lead="Create the owner account of this installation.">
      <Answer of={check} lines={6}>
        {({ accountName }) => (
          <Form
            onSubmit={async values => {
              const body = { token, name: values.text('name'), email: values.text('email') };
              const proofs = await newProofs(values, () => call('POST /setup/passkey/options', { body }));
              keepSession(await call('POST /setup', { body: { ...body, ...proofs } }));
              // Replaces the used link in the browser history.
              navigate(hrefIn('sandbox', '/start'), { isReplacing: true });
            }}
          >
            <p>
              Account: <strong>{accountName}</strong>
            </p>
            <Field label="Your name" name="name" autoComplete="name" maxLength={100} required />
            <Field
              label="Email"
              name="email"
              type="email"
              autoComplete="username"
              hint="You use it to sign in. If Florin can send email, security notices go to this address."
              required
            />
            <NewSignIn />
            <FormError />
            <Submit>Create owner account</Submit>
          </Form>
        )}
      </Answer>
      {check.isError && (
        <p>
          A setup link works once, for one hour. If you have an account,{' '}
          <AppLink href={outsideHref('/sign-in')}>sign in</AppLink>. For a new link, run{' '}
          <code>npx florin setup-link</code>.
        </p>
      )}
    </OutsidePage>
  );
};

export default Setup;
