import { type ReactElement, useEffect, useRef, useState } from 'react';
import { provenSeconds } from '../../../src/core/access/proofRules.ts';
import type { Person } from '../../../src/core/api/sessionApi.ts';
import { answerProofWith, call } from '../client.ts';
import { proveByPasskey } from '../passkeys.ts';
import { Button } from './button.tsx';
import { Buttons, Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Form, FormError, Submit } from './form.tsx';

const provenMinutes = provenSeconds / 60;

/** Opens when a call needs a recent proof of identity. Closing the dialog gives no proof. */
export const StepUp = ({ person }: { person: Person }): ReactElement => {
  const [isOpen, setOpen] = useState(false);
  const waiting = useRef<((isProven: boolean) => void)[]>([]);
  const finish = (isProven: boolean): void => {
    setOpen(false);
    for (const settle of waiting.current.splice(0)) settle(isProven);
  };
  useEffect(() => {
    answerProofWith(
      () =>
        new Promise(resolve => {
          waiting.current.push(resolve);
          setOpen(true);
        }),
    );
    return () => answerProofWith(null);
  }, []);
  return (
    <Dialog isOpen={isOpen} onClose={() => finish(false)} title="Confirm that it is you">
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
      {person.hasPassword && (
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
      )}
    </Dialog>
  );
};
