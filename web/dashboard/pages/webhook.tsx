import type { ReactElement } from 'react';
import { Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { Link } from '../link.tsx';
import { useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';
import { DeliveryList } from '../webhooks/deliveryList.tsx';
import { EndpointCard } from '../webhooks/endpointCard.tsx';
import { SecretCard } from '../webhooks/secretCard.tsx';
import { SendCard } from '../webhooks/sendCard.tsx';

const Webhook = ({ params }: { params: Readonly<Record<string, string>> }): ReactElement => {
  const id = params.id!;
  const endpoint = useAnswer('GET /webhooks/:id', { params: { id } });
  const [mayManage, mayResend, mayReveal] = [
    useMay('webhooks.manage'),
    useMay('deliveries.resend'),
    useMay('secrets.reveal'),
  ];
  return (
    <Page title="Webhook endpoint" lead={<Link to="/webhooks">All endpoints</Link>}>
      <Answer of={endpoint} lines={8}>
        {shown => (
          <>
            <EndpointCard endpoint={shown} />
            {(mayReveal || mayManage) && <SecretCard id={id} />}
            <DeliveryList id={id} />
            {(mayManage || mayResend) && <SendCard id={id} mayManage={mayManage} mayResend={mayResend} />}
          </>
        )}
      </Answer>
    </Page>
  );
};

export default Webhook;
