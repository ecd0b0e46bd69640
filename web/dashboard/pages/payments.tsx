import type { ReactElement } from 'react';
import { useAnswer } from '../asking.ts';
import { Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';

export default function Payments(): ReactElement {
  const payments = useAnswer('GET /payments', { query: { limit: 20 } });
  return (
    <Page title="Payments">
      <Answer of={payments}>{({ pagination }) => <p>{pagination.total} payments.</p>}</Answer>
    </Page>
  );
}
