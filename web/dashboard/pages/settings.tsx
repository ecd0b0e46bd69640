import type { ReactElement } from 'react';
import type { Settings as SettingsAnswer } from '../../../src/core/api/setupApi.ts';
import { Card, Facts, Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { useEnvironment } from '../pageLocation.ts';
import { useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';
import { CallbackSecret } from '../settings/callbackSecret.tsx';
import { MailCard } from '../settings/mailCard.tsx';
import { AccountSection, CheckoutSection, PaymentSection } from '../settings/settingsForm.tsx';

const count = new Intl.NumberFormat('en-US');

const Plan = ({ settings: { plan, limits } }: { settings: SettingsAnswer }): ReactElement => (
  <Card
    title="Plan and limits"
    lead="Limits apply to the whole account, separately for test and live. More keys do not raise them."
  >
    <Facts
      facts={[
        ['Plan', plan.charAt(0).toUpperCase() + plan.slice(1)],
        ['Requests', `${count.format(limits.perMinute)} per minute`],
        ['Burst', `${count.format(limits.burst)} additional requests at once`],
      ]}
    />
  </Card>
);

const Settings = (): ReactElement => {
  const settings = useAnswer('GET /settings');
  const mayReveal = useMay('secrets.reveal');
  const mayTestMail = useMay('mail.test');
  const word = useEnvironment() === 'sandbox' ? 'test' : 'live';
  return (
    <Page title="Settings" lead={`Settings for ${word} payments. Test and live have separate settings.`}>
      <Answer of={settings} lines={12}>
        {shown => (
          <>
            <AccountSection settings={shown} />
            <PaymentSection settings={shown} />
            <CheckoutSection settings={shown} />
            {mayReveal && <CallbackSecret />}
            {mayTestMail && <MailCard />}
            <Plan settings={shown} />
          </>
        )}
      </Answer>
    </Page>
  );
};

export default Settings;
