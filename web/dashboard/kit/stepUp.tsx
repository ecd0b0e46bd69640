import { type ReactElement, useEffect, useRef, useState } from 'react';
import { provenSeconds } from '../../../src/core/access/proofRules.ts';
import type { Person } from '../../../src/core/api/sessionApi.ts';
import { answerProofWith, call, type ProofKind } from '../client.ts';
import { AppLink } from '../link.tsx';
import { hrefIn } from '../pageLocation.ts';
import { proveByPasskey } from '../passkeys.ts';
import { Button } from './button.tsx';
import { Buttons, Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Form, FormError, Submit } from './form.tsx';

const provenMinutes = provenSeconds / 60;

type Ending = { readonly person: Person; readonly finish: (isProven: boolean) => void };

const ByPassword = ({ person, finish }: Ending): ReactElement => (
  <Form
    onSubmit={async values => {
      const code = values.text('code');
      await call('POST /prove', { body: { password: values.exact('password'), ...(code ? { code } : {}) } });
      finish(true);
    }}
  >
    <input type="text" name="username" autoComplete="username" value={person.email} readOnly hidden />
    <Field label="Password" name="password" type="password" autoComplete="current-password" required />
    {person.hasTotp && (
      <Field
        label="Code"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        hint="From your authenticator app, or a recovery code."
        required
      />
    )}
    <FormError />
    <Buttons>
      <Submit kind={person.passkeys > 0 ? 'plain' : 'primary'}>Confirm</Submit>
      <Button onClick={() => finish(false)}>Cancel</Button>
    </Buttons>
  </Form>
);

/** The person has neither a passkey nor an authenticator app, and this action needs one. */
const AddFirst = ({ finish }: Pick<Ending, 'finish'>): ReactElement => (
  <>
    <p>
      For this action, a password alone is not enough. Add one of these on the page My account. Then repeat the action.
    </p>
    <ul className="plain-list">
      <li>
        <strong>Passkey:</strong> your device asks for your fingerprint, face or PIN.
      </li>
      <li>
        <strong>Authenticator app:</strong> an app on your phone shows a code that changes every 30 seconds.
      </li>
    </ul>
    <Buttons>
      <AppLink className="button button-primary" href={hrefIn('production', '/account')} onClick={() => finish(false)}>
        Add a second factor
      </AppLink>
      <Button onClick={() => finish(false)}>Cancel</Button>
    </Buttons>
  </>
);

/** Opens when a call needs a recent proof of identity. Closing the dialog gives no proof. */
export const StepUp = ({ person }: { person: Person }): ReactElement => {
  const [needed, setNeeded] = useState<ProofKind | null>(null);
  const waiting = useRef<((isProven: boolean) => void)[]>([]);
  const finish = (isProven: boolean): void => {
    setNeeded(null);
    for (const settle of waiting.current.splice(0)) settle(isProven);
  };
  useEffect(() => {
    answerProofWith(
      kind =>
        new Promise(resolve => {
          waiting.current.push(resolve);
          setNeeded(kind);
        }),
    );
    return () => answerProofWith(null);
  }, []);
  const isStrong = needed === 'second-factor';
  const mustAdd = isStrong && person.passkeys === 0 && !person.hasTotp;
  return (
    <Dialog
      isOpen={needed !== null}
      onClose={() => finish(false)}
      title={mustAdd ? 'Add a second factor first' : 'Confirm that it is you'}
    >
      {mustAdd ? (
        <AddFirst finish={finish} />
      ) : (
        <>
          <p>{`This action is sensitive. Once confirmed, you are not asked again for ${provenMinutes} minutes.`}</p>
          {person.passkeys > 0 && (
            <Form
              onSubmit={async () => {
                await proveByPasskey();
                finish(true);
              }}
            >
              <FormError />
              <Submit>Use a passkey</Submit>
            </Form>
          )}
          {person.hasPassword && (!isStrong || person.hasTotp) && <ByPassword person={person} finish={finish} />}
        </>
      )}
    </Dialog>
  );
};
