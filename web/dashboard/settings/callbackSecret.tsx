import { type ReactElement, useState } from 'react';
import { Button } from '../kit/button.tsx';
import { Card } from '../kit/page.tsx';
import { SecretOnce } from '../kit/secretOnce.tsx';
import { ErrorBox } from '../kit/states.tsx';
import { useAct } from '../serverCalls.ts';

export const CallbackSecret = (): ReactElement => {
  const [secret, setSecret] = useState<string | null>(null);
  const reveal = useAct('POST /settings/callback-secret/reveal', { refresh: ['GET /audit'] });
  return (
    <Card
      title="Callback secret"
      lead="Signs the events that are sent to a payment’s callbackUrl. Revealing it is recorded in the audit log."
      actions={
        secret === null ? (
          <Button
            isBusy={reveal.isPending}
            onClick={() => reveal.mutate(undefined, { onSuccess: answer => setSecret(answer.secret) })}
          >
            Reveal secret
          </Button>
        ) : (
          <Button onClick={() => setSecret(null)}>Hide</Button>
        )
      }
    >
      {secret === null ? (
        <code className="muted">whsec_••••••••••••••••••••••••</code>
      ) : (
        <SecretOnce secret={secret} what="secret">
          Keep it where only your server can read it.
        </SecretOnce>
      )}
      {reveal.isError && <ErrorBox error={reveal.error} />}
    </Card>
  );
};
