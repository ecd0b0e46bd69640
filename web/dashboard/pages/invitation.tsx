import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import { type CallError, call } from '../client.ts';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Facts, OutsidePage } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { NewSignIn, newProofs } from '../newSignIn.tsx';
import { hrefIn, navigate } from '../pageLocation.ts';
import { roleNames } from '../roleNames.ts';
import { useKeepSession } from '../session.tsx';

const Invitation = (): ReactElement => {
  const [token] = useState(() => location.hash.slice(1));
  const keepSession = useKeepSession();
  const check = useQuery<AnswerOf<'POST /invitation/check'>, CallError>({
    queryKey: ['POST /invitation/check', token],
    queryFn: () => call('POST /invitation/check', { body: { token } }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  return (
    <OutsidePage title="Join the team">
      <Answer of={check} lines={6}>
        {({ accountName, email, role }) => (
          <Form
            onSubmit={async values => {
              const body = { token, name: values.text('name') };
              const proofs = await newProofs(values, () => call('POST /invitation/passkey/options', { body }));
              keepSession(await call('POST /invitation', { body: { ...body, ...proofs } }));
              navigate(hrefIn('sandbox', '/account'), { isReplacing: true });
            }}
          >
            <Facts
              facts={[
                ['Account', accountName],
                ['Email', email],
                ['Role', roleNames[role]],
              ]}
            />
            <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
            <Field label="Your name" name="name" autoComplete="name" maxLength={100} required />
            <NewSignIn />
            <FormError />
            <Submit>Join the team</Submit>
          </Form>
        )}
      </Answer>
      {check.isError && <p>An invitation works once, for seven days. Ask the person who invited you for a new one.</p>}
    </OutsidePage>
  );
};

export default Invitation;
