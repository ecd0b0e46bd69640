import type { ReactElement } from 'react';
import { CodeBlock } from '../kit/codeBlock.tsx';
import { Card } from '../kit/page.tsx';
import { Tabs } from '../kit/tabs.tsx';
import { verifySamples } from './verifySamples.ts';

export const VerifyCode = (): ReactElement => (
  <Card
    title="Verify what arrives"
    lead="Anybody can post to your address. Believe an event only if its signature is right, checked over the bytes as they came. Signatures follow Standard Webhooks."
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
