import type { ReactElement } from 'react';
import { useAnswer } from '../asking.ts';
import { Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';

export default function Home(): ReactElement {
  const home = useAnswer('GET /home', { query: { days: 30 } });
  return (
    <Page title="Home">
      <Answer of={home}>{({ openNow }) => <p>{openNow} payments are open.</p>}</Answer>
    </Page>
  );
}
