import type { ReactElement } from 'react';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { Card } from '../kit/page.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { verifySamples } from './verifySamples.ts';

export const VerifyCode = (): ReactElement => (
  <Card
    title="Verify signatures"
    lead="Anyone can send a request to your endpoint. Trust an event only if its signature matches the raw request body. Signatures follow Standard Webhooks."
  >
    <Tabs
      label="Language"
      tabs={verifySamples.map(({ language, lead, code }) => ({
        key: language,
        label: language,
        content: (
          <div className="stack">
            <p className="muted">{lead} The secret is in the environment variable SECRET.</p>
            <CodeBlock code={code} label={`Code for ${language}`} />
          </div>
        ),
      }))}
    />
  </Card>
);
