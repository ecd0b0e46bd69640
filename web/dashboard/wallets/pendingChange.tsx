import { type ReactElement, useEffect, useState } from 'react';
import type { WalletChange } from '../../../src/core/api/setupApi.ts';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { networkName } from '../kit/networkName.ts';
import { Notice } from '../kit/page.tsx';
import { Time } from '../kit/time.tsx';
import { useAct } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

const everyMs = 30_000;

const timeLeft = (atMs: number, nowMs: number): string => {
  const minutes = Math.ceil((atMs - nowMs) / 60_000);
  if (minutes <= 0) return 'Due now';
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return hours > 0 ? `${hours} h ${rest} min left` : `${rest} min left`;
};

const TimeLeft = ({ at }: { at: string }): ReactElement => {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return <strong>{timeLeft(Date.parse(at), nowMs)}</strong>;
};

export const PendingChange = ({ change }: { change: WalletChange }): ReactElement => {
  const stop = useAct('POST /wallet-changes/:id/stop', { refresh: ['GET /wallets', 'GET /announcements'] });
  const [isAsking, ask] = useState(false);
  const mayManage = useMay('wallets.manage');
  return (
    <Notice tone="care">
      <p>
        <TimeLeft at={change.takesEffectAt} /> until new payments go to this new{' '}
        {change.kind === 'xpub' ? 'extended public key' : 'treasury address'}:
      </p>
      <Copyable text={change.destination} what="new address" />
      <p>
        Requested by {change.requestedBy} on <Time at={change.requestedAt} />. It takes effect on{' '}
        <Time at={change.takesEffectAt} />.
      </p>
      {mayManage && (
        <div>
          <Button kind="danger" onClick={() => ask(true)}>
            Stop this change
          </Button>
        </div>
      )}
      <Confirm
        isOpen={isAsking}
        onClose={() => ask(false)}
        title="Stop this change?"
        verb="Stop the change"
        refusal="Keep the change"
        act={async () => {
          await stop.mutateAsync({ params: { id: change.id } });
          say('The change was stopped.');
        }}
      >
        <p>
          The {networkName(change.network)} wallet stays as it is. If {change.requestedBy} did not request this change,
          somebody else has access to their account. Remove them from the team until you know more.
        </p>
      </Confirm>
    </Notice>
  );
};
