import type { ReactElement } from 'react';
import type { GoLive as GoLiveAnswer } from '../../../src/core/api/moneyApi.ts';
import { Icon } from '../kit/icon.tsx';
import { Card, Notice, Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { AppLink } from '../link.tsx';
import { hrefIn } from '../pageLocation.ts';
import { useAnswer } from '../serverCalls.ts';

/** Where to do a step. The operator sets up HTTPS and networks on the server, so they have no link. */
const links: Partial<Record<GoLiveAnswer['steps'][number]['key'], { to: string; label: string }>> = {
  wallet: { to: '/wallets', label: 'Set up a wallet' },
  webhook: { to: '/webhooks', label: 'Add an endpoint' },
  secondFactor: { to: '/account', label: 'Secure your account' },
  liveKey: { to: '/keys', label: 'Create a key' },
};

const refreshMs = 5_000;

const GoLive = (): ReactElement => {
  const goLive = useAnswer('GET /go-live', {}, { everyMs: () => refreshMs });
  return (
    <Page title="Go live" lead="Complete these steps before you take live payments. Florin checks each of them.">
      <Answer of={goLive} lines={8}>
        {({ steps, ready }) => (
          <>
            {ready && (
              <Notice tone="good">
                <p>
                  <strong>You are ready to go live.</strong> Configure your server with the live API key and the live
                  API address.
                </p>
              </Notice>
            )}
            <Card title={`${steps.filter(({ done }) => done).length} of ${steps.length} steps done`}>
              <ul className="checklist">
                {steps.map(({ key, done, title, help }) => (
                  <li key={key} className={done ? 'is-done' : undefined}>
                    <span className="checklist-mark">{done && <Icon name="check" />}</span>
                    <div>
                      <h3>
                        {title} <span className="quiet">{done ? '(done)' : '(not done)'}</span>
                      </h3>
                      <p className="muted">{help}</p>
                    </div>
                    {!done && links[key] && (
                      <AppLink className="button button-plain" href={hrefIn('production', links[key].to)}>
                        {links[key].label}
                      </AppLink>
                    )}
                  </li>
                ))}
              </ul>
            </Card>
          </>
        )}
      </Answer>
    </Page>
  );
};

export default GoLive;
