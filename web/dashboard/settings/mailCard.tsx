import type { ReactElement } from 'react';
import { say } from '../kit/announce.tsx';
import { Button } from '../kit/button.tsx';
import { Card } from '../kit/page.tsx';
import { ErrorBox } from '../kit/states.tsx';
import { useAct } from '../serverCalls.ts';
import { useSession } from '../session.tsx';

/** For owners: whether e-mail is set up, and works. */
export const MailCard = (): ReactElement => {
  const { sendsMail, person } = useSession();
  const test = useAct('POST /mail/test');
  const lead = sendsMail
    ? 'Owners and admins get security notices. Invitations and links to set a new password are also sent.'
    : 'E-mail is not set up. Whoever runs this Florin sets FLORIN_SMTP_URL and FLORIN_MAIL_FROM.';
  return (
    <Card
      title="E-mail"
      lead={lead}
      actions={
        sendsMail && (
          <Button
            isBusy={test.isPending}
            onClick={() =>
              test.mutate(undefined, {
                onSuccess: ({ error }) => say(error === null ? 'The test e-mail was sent.' : 'It was not sent.'),
              })
            }
          >
            Send a test e-mail to me
          </Button>
        )
      }
    >
      {test.data?.error === null && <p>The mail server accepted a message to {person.email}.</p>}
      {typeof test.data?.error === 'string' && <p>Not sent: {test.data.error}.</p>}
      {test.isError && <ErrorBox error={test.error} />}
    </Card>
  );
};
