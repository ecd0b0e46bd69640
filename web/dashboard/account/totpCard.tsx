import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import { call } from '../client.ts';
import { say } from '../kit/announce.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Field } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Card } from '../kit/page.tsx';
import { ErrorBox } from '../kit/states.tsx';
import { useAct } from '../serverCalls.ts';
import { sessionKey, useSession } from '../session.tsx';
import { RecoveryCodes } from './recoveryCodes.tsx';

type Begun = AnswerOf<'POST /me/totp/begin'>;

const ScanForm = ({ begun, onDone }: { begun: Begun; onDone: (codes: string[]) => void }): ReactElement => (
  <Form
    onSubmit={async values => {
      const { recoveryCodes } = await call('POST /me/totp', { body: { code: values.text('code') } });
      onDone(recoveryCodes);
    }}
  >
    <p>
      Scan this code with your authenticator app, or type the secret into it. Then enter the code that the app shows.
    </p>
    <img
      className="qr"
      src={`data:image/svg+xml,${encodeURIComponent(begun.qr)}`}
      alt="QR code of the secret below"
      width="200"
      height="200"
    />
    <p>
      <Copyable text={begun.secret} what="secret" />
    </p>
    <Field label="Code" name="code" inputMode="numeric" autoComplete="one-time-code" hint="Six digits." required />
    <FormError />
    <Submit>Turn on</Submit>
  </Form>
);

export const TotpCard = (): ReactElement => {
  const { person } = useSession();
  const client = useQueryClient();
  const [begun, setBegun] = useState<Begun | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const begin = useAct('POST /me/totp/begin');
  const remove = useAct('DELETE /me/totp', { refresh: ['GET /session'] });
  const renew = useAct('POST /me/recovery-codes', { refresh: ['GET /session'] });
  const show = (made: string[]): void => {
    setBegun(null);
    setCodes(made);
    void client.invalidateQueries({ queryKey: sessionKey });
    say('Your recovery codes are shown.');
  };
  const error = begin.error ?? renew.error;
  return (
    <Card
      title="Authenticator app"
      lead="After your password, you enter a code from an app. It changes every 30 seconds."
      actions={person.hasTotp ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}
    >
      {error && <ErrorBox error={error} />}
      <Buttons>
        {person.hasTotp ? (
          <>
            <Button
              isBusy={renew.isPending}
              onClick={() => renew.mutate(undefined, { onSuccess: answer => show(answer.recoveryCodes) })}
            >
              Create new recovery codes
            </Button>
            <Button onClick={() => setRemoving(true)}>Turn off</Button>
          </>
        ) : (
          <Button isBusy={begin.isPending} onClick={() => begin.mutate(undefined, { onSuccess: setBegun })}>
            Set up authenticator app
          </Button>
        )}
      </Buttons>
      {person.hasTotp && (
        <p className={person.recoveryCodesLeft < 3 ? undefined : 'muted'}>
          Recovery codes left: {person.recoveryCodesLeft}
        </p>
      )}
      <Dialog isOpen={begun !== null} onClose={() => setBegun(null)} title="Set up authenticator app">
        {begun && <ScanForm begun={begun} onDone={show} />}
      </Dialog>
      <Dialog isOpen={codes !== null} onClose={() => setCodes(null)} title="Recovery codes">
        {codes && <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />}
      </Dialog>
      <Confirm
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        title="Turn off the authenticator app?"
        verb="Turn off"
        act={() => remove.mutateAsync(undefined)}
      >
        <p>Your recovery codes stop working too.</p>
      </Confirm>
    </Card>
  );
};
