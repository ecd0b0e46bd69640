import type { ReactElement } from 'react';
import { Page } from '../kit/page.tsx';
import { AppLink } from '../link.tsx';
import { hrefIn, useEnvironment } from '../pageLocation.ts';
import { KeyStep } from '../start/keyStep.tsx';
import { PaymentStep } from '../start/paymentStep.tsx';
import { WalletStep } from '../start/walletStep.tsx';
import { WebhookStep } from '../start/webhookStep.tsx';

/** The steps to a first paid test payment. Each step can also be done later on other pages. */
const Start = (): ReactElement => {
  const environment = useEnvironment();
  if (environment === 'production')
    return (
      <Page title="Get started" lead="You start in the sandbox, with test money.">
        <div>
          <AppLink className="button button-primary" href={hrefIn('sandbox', '/start')}>
            Go to the sandbox
          </AppLink>
        </div>
      </Page>
    );
  return (
    <Page title="Get started" lead="Complete your first test payment in five minutes. No real money is used.">
      <ol className="steps">
        <KeyStep />
        <WebhookStep />
        <WalletStep />
        <PaymentStep />
      </ol>
    </Page>
  );
};

export default Start;
