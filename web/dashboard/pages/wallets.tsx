import { type ReactElement, useState } from 'react';
import type { AnswerOf } from '../../../src/core/api/dashboardApi.ts';
import type { Wallet } from '../../../src/core/api/setupApi.ts';
import { Button } from '../kit/button.tsx';
import { networkName } from '../kit/networkName.ts';
import { Card, Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { useEnvironment } from '../pageLocation.ts';
import { useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';
import { PendingChange } from '../wallets/pendingChange.tsx';
import { type AskedWallet, SetWallet } from '../wallets/setWallet.tsx';
import { WalletCard } from '../wallets/walletCard.tsx';

type Row = AnswerOf<'GET /wallets'>['data'][number];
type Unset = Extract<Row, { kind: null }>;

const isSet = (row: Row): row is Wallet => row.kind !== null;

const UnsetNetworks = ({ rows, onSet }: { rows: readonly Unset[]; onSet: (network: string) => void }): ReactElement => {
  const mayManage = useMay('wallets.manage');
  return (
    <Card
      title="No wallet yet"
      lead="Payments on these networks are refused until you set a wallet. The first wallet takes effect at once."
    >
      <ul className="ruled">
        {rows.map(({ network, pending }) => (
          <li key={network} className="spread">
            <span>{networkName(network)}</span>
            {mayManage && pending === null && (
              <Button isSmall aria-label={`Set the ${networkName(network)} wallet`} onClick={() => onSet(network)}>
                Set
              </Button>
            )}
            {pending && <PendingChange change={pending} />}
          </li>
        ))}
      </ul>
    </Card>
  );
};

const Wallets = (): ReactElement => {
  const wallets = useAnswer('GET /wallets');
  const [asked, ask] = useState<AskedWallet | null>(null);
  const isLive = useEnvironment() === 'production';
  return (
    <Page
      title="Wallets"
      lead={
        isLive
          ? 'Where new payments are paid out. A change needs you to confirm your identity, takes effect after 24 hours, and is announced to the whole team.'
          : 'Where new test payments are paid out. In live mode a change takes effect after 24 hours and is announced to the whole team.'
      }
    >
      <Answer of={wallets} lines={10}>
        {({ data }) => {
          const unset = data.filter((row): row is Unset => !isSet(row));
          return (
            <>
              {data.filter(isSet).map(wallet => (
                <WalletCard
                  key={wallet.network}
                  wallet={wallet}
                  onChange={() => ask({ network: wallet.network, isChange: true })}
                />
              ))}
              {unset.length > 0 && <UnsetNetworks rows={unset} onSet={network => ask({ network, isChange: false })} />}
            </>
          );
        }}
      </Answer>
      <SetWallet asked={asked} onClose={() => ask(null)} />
    </Page>
  );
};

export default Wallets;
