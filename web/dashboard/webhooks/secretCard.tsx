import { type ReactElement, useState } from 'react';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Card } from '../kit/page.tsx';
import { SecretOnce } from '../kit/secretOnce.tsx';
import { ErrorBox } from '../kit/states.tsx';
import { useAct } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

/** Shown on request, after a proof of identity. The secret is kept only in the page's memory. */
export const SecretCard = ({ id }: { id: string }): ReactElement => {
  const [shown, setShown] = useState<{ secret: string; isNew: boolean } | null>(null);
  const [isRotating, askToRotate] = useState(false);
  const reveal = useAct('POST /webhooks/:id/reveal', { refresh: ['GET /audit'] });
  const rotate = useAct('POST /webhooks/:id/rotate', { refresh: ['GET /audit'] });
  const mayReveal = useMay('secrets.reveal');
  const mayManage = useMay('webhooks.manage');
  const look = (): void =>
    reveal.mutate({ params: { id } }, { onSuccess: ({ secret }) => setShown({ secret, isNew: false }) });
  return (
    <Card
      title="Signing secret"
      lead="Your server verifies events with it. Revealing it is recorded in the audit log."
      actions={
        <>
          {mayReveal && !shown && (
            <Button onClick={look} isBusy={reveal.isPending}>
              Reveal secret
            </Button>
          )}
          {shown && <Button onClick={() => setShown(null)}>Hide</Button>}
          {mayManage && <Button onClick={() => askToRotate(true)}>Rotate</Button>}
        </>
      }
    >
      {shown && (
        <SecretOnce secret={shown.secret} what="secret">
          {shown.isNew
            ? 'This is the new secret. For 24 hours each delivery is signed with both secrets. Update your server within that time.'
            : 'Keep it where only your server can read it.'}
        </SecretOnce>
      )}
      {!shown && <code className="muted">whsec_••••••••••••••••••••••••</code>}
      {reveal.isError && <ErrorBox error={reveal.error} />}
      <Confirm
        isOpen={isRotating}
        onClose={() => askToRotate(false)}
        title="Rotate the secret?"
        verb="Create new secret"
        refusal="Not now"
        kind="primary"
        act={async () => {
          const { secret } = await rotate.mutateAsync({ params: { id } });
          setShown({ secret, isNew: true });
        }}
      >
        <p>
          You get a new secret now. For 24 hours each delivery has two signatures, so both secrets work. After that the
          old secret stops working.
        </p>
      </Confirm>
    </Card>
  );
};
