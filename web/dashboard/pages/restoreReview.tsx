import type { ReactElement } from 'react';
import { say } from '../kit/announce.tsx';
import { Buttons } from '../kit/dialog.tsx';
import { Form, FormError, Submit } from '../kit/form.tsx';
import { Card, Notice, Page } from '../kit/page.tsx';
import { Answer, Empty } from '../kit/states.tsx';
import { Time } from '../kit/time.tsx';
import { ReviewedParts } from '../restore/reviewedParts.tsx';
import { useAct, useAnswer } from '../serverCalls.ts';
import { useMay } from '../session.tsx';

const OpenProduction = ({ restoredAt }: { restoredAt: string }): ReactElement => {
  const review = useAct('POST /restore-review', { refresh: ['GET /announcements'] });
  const mayReview = useMay('restore.review');
  return (
    <Card title="Open production">
      {mayReview ? (
        <Form
          label="Open production"
          onSubmit={async () => {
            await review.mutateAsync({ body: { restoredAt } });
            say('Production is open.');
          }}
        >
          <p>First change what is not as it should be. The audit log records that you opened production.</p>
          <FormError />
          <Buttons>
            <Submit>Everything is as it should be. Open production</Submit>
          </Buttons>
        </Form>
      ) : (
        <p>Only an owner can open production. Tell an owner if something on this page is not as it should be.</p>
      )}
    </Card>
  );
};

const RestoreReview = (): ReactElement => {
  const announcements = useAnswer('GET /announcements');
  return (
    <Page
      title="Review after a restore"
      lead="A backup does not know what changed after it was taken. Look at what could give somebody access or send money elsewhere."
    >
      <Answer of={announcements}>
        {({ restoredAt }) =>
          restoredAt === null ? (
            <Card>
              <Empty title="Nothing to review">Production is open.</Empty>
            </Card>
          ) : (
            <>
              <Notice tone="care">
                <p>
                  This restore was declared on <Time at={restoredAt} />. Until an owner opens production, live payments
                  cannot be created, canceled or accepted, and live API keys can only read. Existing payments are still
                  watched and completed, and their webhooks are sent. Test mode works as usual.
                </p>
              </Notice>
              <ReviewedParts />
              <OpenProduction restoredAt={restoredAt} />
            </>
          )
        }
      </Answer>
    </Page>
  );
};

export default RestoreReview;
