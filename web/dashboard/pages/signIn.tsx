import { browserSupportsWebAuthnAutofill, WebAuthnAbortService } from '@simplewebauthn/browser';
import { type ReactElement, useEffect, useState } from 'react';
import { earlierHours } from '../../../src/core/access/ownerGuard.ts';
import type { SignedIn } from '../../../src/core/api/sessionApi.ts';
import { call } from '../client.ts';
import { Button } from '../kit/button.tsx';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { OutsidePage } from '../kit/page.tsx';
import { AppLink } from '../link.tsx';
import { LostSession } from '../lostSession.tsx';
import { base, navigate, outsideHref, usePageLocation } from '../pageLocation.ts';
import { askPasskey, canUsePasskeys } from '../passkeys.ts';
import { useKeepSession, useSessionState } from '../session.tsx';

/** Accepts only pages of the app, because anybody can make a link with another `next`. */
const safeNext = (next: string | null): string => {
  if (!next?.startsWith(`${base}/`)) return base;
  const { origin, pathname, search } = new URL(next, location.origin);
  return origin === location.origin && pathname.startsWith(`${base}/`) ? pathname + search : base;
};

/** Sent to sign in as before the sign-in was changed, which undoes the change. */
type Earlier = { earlier?: true };

const byPasskey = async (isFromAutofill: boolean, earlier: Earlier = {}): Promise<SignedIn> => {
  const options = await call('POST /sign-in/passkey/options');
  const response = await askPasskey(options, { isFromAutofill });
  return call('POST /sign-in/passkey', { body: { response, ...earlier } });
};

/** Offers passkeys in the email field, if the browser supports it. */
const useAutofilledPasskey = (onSignedIn: (session: SignedIn) => void, isWanted: boolean): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is asked for once, when the page is opened.
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    const offer = async (): Promise<void> => {
      if (!(await browserSupportsWebAuthnAutofill()) || isGone) return;
      const session = await byPasskey(true);
      if (!isGone) onSignedIn(session);
    };
    // The person did not ask for this, so errors are not shown. The passkey button shows its own errors.
    offer().catch(() => {});
    return () => {
      isGone = true;
      WebAuthnAbortService.cancelCeremony();
    };
  }, [isWanted]);
};

type Given = { email: string; password: string } & Earlier;

const CodeForm = ({
  given,
  onSignedIn,
  onBack,
}: {
  given: Given;
  onSignedIn: (session: SignedIn) => void;
  onBack: () => void;
}): ReactElement => {
  const [isRecovery, setRecovery] = useState(false);
  return (
    <Form
      onSubmit={async values => {
        const answer = await call('POST /sign-in', { body: { ...given, code: values.text('code') } });
        if (answer.state === 'signed-in') onSignedIn(answer);
      }}
    >
      <Field
        key={String(isRecovery)}
        label={isRecovery ? 'Recovery code' : 'Authenticator code'}
        name="code"
        inputMode={isRecovery ? 'text' : 'numeric'}
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        spellCheck={false}
        hint={isRecovery ? 'Each recovery code works once.' : 'Six digits.'}
        autoFocus
        required
      />
      <FormError />
      <Submit>Sign in</Submit>
      <div className="row outside-links">
        <button type="button" className="link-button" onClick={() => setRecovery(!isRecovery)}>
          {isRecovery ? 'Use an authenticator code' : 'Use a recovery code'}
        </button>
        <button type="button" className="link-button" onClick={onBack}>
          Back
        </button>
      </div>
    </Form>
  );
};

const PasswordForm = ({
  earlier,
  onSignedIn,
  onCodeNeeded,
}: {
  earlier: Earlier;
  onSignedIn: (session: SignedIn) => void;
  onCodeNeeded: (given: Given) => void;
}): ReactElement => (
  <Form
    label="Password"
    onSubmit={async values => {
      const given = { email: values.text('email'), password: values.exact('password'), ...earlier };
      const answer = await call('POST /sign-in', { body: given });
      if (answer.state === 'signed-in') onSignedIn(answer);
      else onCodeNeeded(given);
    }}
  >
    <Field label="Email" name="email" type="email" autoComplete="username webauthn" required />
    <Field label="Password" name="password" type="password" autoComplete="current-password" required />
    <FormError />
    <Submit kind="plain">Continue</Submit>
  </Form>
);

const NoOwner = ({ onRetry }: { onRetry: () => unknown }): ReactElement => (
  <OutsidePage
    title="Set up Florin"
    lead="This installation has no owner yet. Open the setup link to create the owner account."
  >
    <ul className="plain-list">
      <li>Florin prints the link when it starts.</li>
      <li>
        If it runs without a terminal, the link is in the file <code>data/first-run</code>.
      </li>
      <li>
        To get a new link, run <code>npx florin setup-link</code>. Each link works once, for one hour.
      </li>
    </ul>
    <Button onClick={() => void onRetry()}>Check again</Button>
  </OutsidePage>
);

const SignInForms = ({
  earlier,
  onSignedIn,
  onCodeNeeded,
}: {
  earlier: Earlier;
  onSignedIn: (session: SignedIn) => void;
  onCodeNeeded: (given: Given) => void;
}): ReactElement => (
  <>
    {canUsePasskeys() && (
      <>
        <Form label="Passkey" onSubmit={async () => onSignedIn(await byPasskey(false, earlier))}>
          <Submit>Sign in with a passkey</Submit>
          <FormError />
        </Form>
        <p className="divider">or</p>
      </>
    )}
    <PasswordForm earlier={earlier} onSignedIn={onSignedIn} onCodeNeeded={onCodeNeeded} />
  </>
);

const earlierLead = `Sign in the way you did before the change: with your earlier passkey, or with your earlier password and, if you needed one, a code. This undoes the change and ends all other sessions. It works for ${earlierHours} hours after the change.`;

const SignIn = (): ReactElement => {
  const { query } = usePageLocation();
  const session = useSessionState();
  const keepSession = useKeepSession();
  const [given, setGiven] = useState<Given | null>(null);
  const [isEarlier, setEarlier] = useState(false);
  const next = safeNext(query.get('next'));
  const state = session.data?.state;
  const onSignedIn = (signedIn: SignedIn): void => {
    keepSession(signedIn);
    navigate(next, { isReplacing: true });
  };
  useAutofilledPasskey(onSignedIn, state === 'signed-out' && !isEarlier);
  useEffect(() => {
    if (state === 'signed-in') navigate(next, { isReplacing: true });
  }, [state, next]);
  if (state === 'no-owner') return <NoOwner onRetry={session.refetch} />;
  if (given !== null)
    return (
      <OutsidePage title="Enter your code" lead="Your account has a second factor.">
        <CodeForm given={given} onSignedIn={onSignedIn} onBack={() => setGiven(null)} />
      </OutsidePage>
    );
  if (isEarlier)
    return (
      <OutsidePage title="Undo a change of your sign-in" lead={earlierLead}>
        <SignInForms earlier={{ earlier: true }} onSignedIn={onSignedIn} onCodeNeeded={setGiven} />
        <div className="row outside-links">
          <button type="button" className="link-button" onClick={() => setEarlier(false)}>
            Back
          </button>
        </div>
      </OutsidePage>
    );
  return (
    <OutsidePage title="Sign in">
      <LostSession state={session.data} />
      <SignInForms earlier={{}} onSignedIn={onSignedIn} onCodeNeeded={setGiven} />
      <div className="row outside-links">
        {session.data?.state === 'signed-out' && session.data.sendsMail && (
          <AppLink href={outsideHref('/forgotten')}>Forgot your password?</AppLink>
        )}
        <button type="button" className="link-button" onClick={() => setEarlier(true)}>
          My sign-in was changed
        </button>
      </div>
    </OutsidePage>
  );
};

export default SignIn;
