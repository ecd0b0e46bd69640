import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import type { SignedIn } from '../../../src/core/api/sessionApi.ts';
import { type CallError, call } from '../client.ts';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Facts, OutsidePage } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { NewSignIn, newProofs } from '../newSignIn.tsx';
import { hrefIn, navigate } from '../pageLocation.ts';
import { askPasskey, canUsePasskeys } from '../passkeys.ts';
import { roleNames } from '../roleNames.ts';
import { useKeepSession } from '../session.tsx';

type Given = { readonly token: string; readonly email: string };

/** For somebody who can sign in already: with that sign-in they join, and have one more account. */
const JoinWithSignIn = ({
  token,
  email,
  onJoined,
}: Given & { onJoined: (session: SignedIn) => void }): ReactElement => {
  const [isCodeNeeded, setCodeNeeded] = useState(false);
  return (
    <>
      {canUsePasskeys() && (
        <>
          <Form
            label="Passkey"
            onSubmit={async () => {
              const response = await askPasskey(await call('POST /sign-in/passkey/options'), { isFromAutofill: false });
              onJoined(await call('POST /invitation/sign-in/passkey', { body: { token, response } }));
            }}
          >
            <Submit>Join with your passkey</Submit>
            <FormError />
          </Form>
          <p className="divider">or</p>
        </>
      )}
      <Form
        label="Password"
        onSubmit={async values => {
          const code = isCodeNeeded ? { code: values.text('code') } : {};
          const body = { token, password: values.exact('password'), ...code };
          const answer = await call('POST /invitation/sign-in', { body });
          if (answer.state === 'signed-in') onJoined(answer);
          else setCodeNeeded(true);
        }}
      >
        <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        {isCodeNeeded && (
          <Field
            label="Authenticator code"
            name="code"
            autoComplete="one-time-code"
            spellCheck={false}
            hint="Six digits, or a recovery code."
            autoFocus
            required
          />
        )}
        <FormError />
        <Submit kind="plain">Join the team</Submit>
      </Form>
    </>
  );
};

const JoinAnew = ({ token, email, onJoined }: Given & { onJoined: (session: SignedIn) => void }): ReactElement => (
  <Form
    onSubmit={async values => {
      const body = { token, name: values.text('name') };
      const proofs = await newProofs(values, () => call('POST /invitation/passkey/options', { body }));
      onJoined(await call('POST /invitation', { body: { ...body, ...proofs } }));
    }}
  >
    <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
    <Field label="Your name" name="name" autoComplete="name" maxLength={100} required />
    <NewSignIn />
    <FormError />
    <Submit>Join the team</Submit>
  </Form>
);

const Invitation = (): ReactElement => {
  const [token] = useState(() => location.hash.slice(1));
  const [hasSignIn, setHasSignIn] = useState(false);
  const keepSession = useKeepSession();
  const check = useQuery<AnswerOf<'POST /invitation/check'>, CallError>({
    queryKey: ['POST /invitation/check', token],
    queryFn: () => call('POST /invitation/check', { body: { token } }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  const onJoined = (session: SignedIn): void => {
    keepSession(session);
    navigate(hrefIn('sandbox', hasSignIn ? '' : '/account'), { isReplacing: true });
  };
  const Join = hasSignIn ? JoinWithSignIn : JoinAnew;
  return (
    <OutsidePage title="Join the team">
      <Answer of={check} lines={6}>
        {({ accountName, email, role }) => (
          <>
            <Facts
              facts={[
                ['Account', accountName],
                ['Email', email],
                ['Role', roleNames[role]],
              ]}
            />
            <Join token={token} email={email} onJoined={onJoined} />
            <div className="row outside-links">
              <button type="button" className="link-button" onClick={() => setHasSignIn(!hasSignIn)}>
                {hasSignIn ? 'I am new here' : 'I already have a sign-in'}
              </button>
            </div>
          </>
        )}
      </Answer>
      {check.isError && <p>An invitation works once, for seven days. Ask the person who invited you for a new one.</p>}
    </OutsidePage>
  );
};

export default Invitation;
