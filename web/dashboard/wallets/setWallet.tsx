import { type ReactElement, useState } from 'react';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { Buttons, Dialog } from '../kit/dialog.tsx';
import { Checkbox } from '../kit/field.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { networkName } from '../kit/networkName.ts';
import { Notice } from '../kit/page.tsx';
import { useAct } from '../serverCalls.ts';
import { AddressList } from './addressList.tsx';
import { safeQuestion } from './confirmTreasury.tsx';
import { type Given, GiveWallet, type Preview } from './giveWallet.tsx';

export type AskedWallet = { network: string; isChange: boolean };

const Compare = ({ network, preview }: { network: string; preview: Preview }): ReactElement =>
  preview.kind === 'xpub' ? (
    <div className="stack">
      <p>These are the first receiving addresses of this key. Open your own wallet and compare them with its list:</p>
      <AddressList addresses={preview.sampleAddresses} />
    </div>
  ) : (
    <div className="stack">
      <p>
        All payments on this network are paid out to this address. Compare it with your own wallet, character by
        character:
      </p>
      <Copyable text={preview.destination} what="treasury address" />
      <p>If it is a contract: {safeQuestion(network)}</p>
    </div>
  );

const Consequences = ({ isChange, waitsHours }: { isChange: boolean; waitsHours: number }): ReactElement => {
  if (!isChange)
    return (
      <Notice>
        <p>This is the first wallet for this network. New payments use it at once.</p>
      </Notice>
    );
  return (
    <Notice tone="care">
      <p>
        {waitsHours > 0
          ? `The change takes effect after ${waitsHours} hours. Until then every page announces it, and it can be stopped.`
          : 'In test mode the change takes effect at once. In live mode it takes 24 hours.'}
      </p>
      {waitsHours > 0 && (
        <p>Until then, the owners and how they sign in stay as they are, unless another owner approves the change.</p>
      )}
      <p>It applies to new payments only. Existing payments keep their payout address.</p>
    </Notice>
  );
};

type Seen = { given: Given; preview: Preview };

const ConfirmWallet = ({
  asked: { network, isChange },
  seen: { given, preview },
  onBack,
  onDone,
}: {
  asked: AskedWallet;
  seen: Seen;
  onBack: () => void;
  onDone: () => void;
}): ReactElement => {
  const set = useAct('POST /wallets', { refresh: ['GET /wallets', 'GET /announcements', 'GET /go-live'] });
  const verify = useAct('POST /wallets/:network/verify', { refresh: ['GET /wallets', 'GET /go-live'] });
  const waits = preview.waitsHours > 0;
  return (
    <Form
      label="Confirm the wallet"
      onSubmit={async values => {
        const { wallet, pending } = await set.mutateAsync({ body: given });
        if (values.has('isFound') && wallet !== null && pending === null)
          await verify.mutateAsync({ params: { network }, body: { version: wallet.version } });
        say(pending === null ? 'The wallet is set.' : 'The change is scheduled. Every page announces it.');
        onDone();
      }}
    >
      <Compare network={network} preview={preview} />
      <Consequences isChange={isChange} waitsHours={preview.waitsHours} />
      <Checkbox
        name="isFound"
        label="I found this in my own wallet"
        hint={
          waits ? 'You confirm it again once the change has taken effect.' : 'The wallet is then marked as verified.'
        }
        required={waits}
      />
      <FormError />
      <Buttons>
        <Submit>{waits ? 'Request the change' : 'Use this wallet'}</Submit>
        <Button onClick={onBack}>Back</Button>
      </Buttons>
    </Form>
  );
};

export const SetWallet = ({ asked, onClose }: { asked: AskedWallet | null; onClose: () => void }): ReactElement => {
  const [seen, setSeen] = useState<Seen | null>(null);
  const close = (): void => {
    setSeen(null);
    onClose();
  };
  const name = networkName(asked?.network ?? '');
  return (
    <Dialog
      isOpen={asked !== null}
      onClose={close}
      title={asked?.isChange ? `Change the ${name} wallet` : `Set the ${name} wallet`}
    >
      {asked && seen && <ConfirmWallet asked={asked} seen={seen} onBack={() => setSeen(null)} onDone={close} />}
      {asked && !seen && (
        <GiveWallet
          network={asked.network}
          onPreview={(given, preview) => setSeen({ given, preview })}
          onClose={close}
        />
      )}
    </Dialog>
  );
};
