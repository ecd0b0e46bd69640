import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import { type CallError, call } from '../client.ts';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { OutsidePage } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { Time } from '../kit/time.tsx';
import { NewPassword, samePassword } from '../newPassword.tsx';
import { hrefIn, navigate } from '../pageLocation.ts';
import { useKeepSession } from '../session.tsx';

/** Sets a new password for somebody who cannot sign in any more. The operator gave them the link. */
const Recovery = (): ReactElement => {
  const [token] = useState(() => location.hash.slice(1));
  const keepSession = useKeepSession();
  const check = useQuery<AnswerOf<'POST /recovery/check'>, CallError>({
    queryKey: ['POST /recovery/check', token],
    queryFn: () => call('POST /recovery/check', { body: { token } }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  return (
    <OutsidePage title="Set a new password">
      <Answer of={check} lines={4}>
        {({ email, opensAt }) =>
          new Date(opensAt) > new Date() ? (
            <p>
              This link opens on <Time at={opensAt} />. Until then, everybody in your accounts can see that it was
              created.
            </p>
          ) : (
            <Form
              onSubmit={async values => {
                const body = { token, password: samePassword(values) };
                keepSession(await call('POST /recovery', { body }));
                navigate(hrefIn('sandbox', '/account'), { isReplacing: true });
              }}
            >
              <p>
                This is for <strong>{email}</strong>. It removes your authenticator app and your passkeys, and ends all
                sessions.
              </p>
              <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
              <NewPassword />
              <FormError />
              <Submit>Set the password</Submit>
            </Form>
          )
        }
      </Answer>
      {check.isError && (
        <p>
          A recovery link works once, for one day. Get a new one where you got this one: from the sign-in page, or from
          whoever runs this Florin.
        </p>
      )}
    </OutsidePage>
  );
};

export default Recovery;
