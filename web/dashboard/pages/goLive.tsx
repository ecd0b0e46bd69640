import type { ReactElement } from 'react';
import type { GoLive as GoLiveAnswer } from '../../../src/core/dashboard/moneyApi.ts';
import { useAnswer } from '../asking.ts';
import { Icon } from '../kit/icon.tsx';
import { Card, Notice, Page } from '../kit/page.tsx';
import { Answer } from '../kit/states.tsx';
import { PlaceLink } from '../link.tsx';
import { hrefIn } from '../place.ts';

/** Where a step is done; HTTPS and networks are the operator's, on the machine itself. */
const places: Partial<Record<GoLiveAnswer['steps'][number]['key'], string>> = {
  wallet: '/wallets',
  webhook: '/webhooks',
  secondFactor: '/account',
  liveKey: '/keys',
};

const refreshMs = 5_000;

export default function GoLive(): ReactElement {
  const goLive = useAnswer('GET /go-live', {}, { everyMs: () => refreshMs });
  return (
    <Page title="Go live" lead="Complete these steps before you accept real payments. Florin checks each one.">
      <Answer of={goLive} lines={8}>
        {({ steps, ready }) => (
          <>
            {ready && (
              <Notice tone="good">
                <p>
                  <strong>You can go live.</strong> Use the live key and the live address on your server.
                </p>
              </Notice>
            )}
            <Card title={`${steps.filter(({ done }) => done).length} of ${steps.length} done`}>
              <ul className="checklist">
                {steps.map(({ key, done, title, help }) => (
                  <li key={key} className={done ? 'is-done' : undefined}>
                    <span className="checklist-mark">
                      <Icon name="check" />
                    </span>
                    <div>
                      <h3>
                        {title} <span className="quiet">{done ? '(done)' : '(not done)'}</span>
                      </h3>
                      <p className="muted">{help}</p>
                    </div>
                    {!done && places[key] && (
                      <PlaceLink className="button button-plain" href={hrefIn('production', places[key])}>
                        Set up
                      </PlaceLink>
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
}
