import { type ReactElement, useState } from 'react';
import type { Wallet } from '../../../src/core/api/setupApi.ts';
import { say } from '../kit/announce.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../kit/confirm.tsx';
import { Copyable } from '../kit/copyButton.tsx';
import { networkName } from '../kit/networkName.ts';
import { Card, Facts } from '../kit/page.tsx';
import { Time } from '../kit/time.tsx';
import { useAct } from '../serverCalls.ts';
import { useMay } from '../session.tsx';
import { AddressList } from './addressList.tsx';
import { safeQuestion } from './confirmTreasury.tsx';
import { PendingChange } from './pendingChange.tsx';

type Asking = { wallet: Wallet; isOpen: boolean; onClose: () => void };

const VerifyWallet = ({ wallet, isOpen, onClose }: Asking): ReactElement => {
  const verify = useAct('POST /wallets/:network/verify', { refresh: ['GET /wallets', 'GET /go-live'] });
  const { network, version } = wallet;
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title="Is this your own wallet?"
      verb="I found it in my wallet"
      refusal="Not now"
      kind="primary"
      act={async () => {
        await verify.mutateAsync({ params: { network }, body: { version } });
        say('The wallet is verified.');
      }}
    >
      <p>Open your own wallet and compare, character by character:</p>
      {wallet.kind === 'xpub' ? (
        <AddressList addresses={wallet.sampleAddresses} />
      ) : (
        <>
          <Copyable text={wallet.destination} what="treasury address" />
          <p>If it is a contract: {safeQuestion(network)}</p>
        </>
      )}
    </Confirm>
  );
};

const WalletFacts = ({ wallet }: { wallet: Wallet }): ReactElement => {
  const isKey = wallet.kind === 'xpub';
  return (
    <Facts
      facts={[
        [
          isKey ? 'Extended public key' : 'Treasury address',
          <Copyable key="destination" text={wallet.destination} what={isKey ? 'key' : 'treasury address'} />,
        ],
        [
          'Verified',
          wallet.verifiedAt === null ? (
            <Badge key="no" tone="care">
              Not yet
            </Badge>
          ) : (
            <Time key="yes" at={wallet.verifiedAt} />
          ),
        ],
        ['In use since', <Time key="since" at={wallet.createdAt} />],
        ...(isKey
          ? ([['First addresses', <AddressList key="addresses" addresses={wallet.sampleAddresses} />]] as const)
          : []),
      ]}
    />
  );
};

export const WalletCard = ({ wallet, onChange }: { wallet: Wallet; onChange: () => void }): ReactElement => {
  const [isVerifying, verify] = useState(false);
  const mayManage = useMay('wallets.manage');
  const name = networkName(wallet.network);
  return (
    <Card
      title={name}
      actions={
        mayManage && (
          <>
            {wallet.verifiedAt === null && (
              <Button aria-label={`Verify the ${name} wallet`} onClick={() => verify(true)}>
                Verify
              </Button>
            )}
            {wallet.pending === null && (
              <Button aria-label={`Change the ${name} wallet`} onClick={onChange}>
                Change
              </Button>
            )}
          </>
        )
      }
    >
      {wallet.pending && <PendingChange change={wallet.pending} />}
      <WalletFacts wallet={wallet} />
      <VerifyWallet wallet={wallet} isOpen={isVerifying} onClose={() => verify(false)} />
    </Card>
  );
};
