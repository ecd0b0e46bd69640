import type { ReactElement, ReactNode } from 'react';
import { CopyButton } from './copyButton.tsx';

/** Shows a secret, which is kept only in the page's memory. */
export const SecretOnce = ({
  secret,
  what,
  children = 'This is shown only once. Store it now where only your server can read it.',
}: {
  secret: string;
  what: string;
  children?: ReactNode;
}): ReactElement => (
  <div className="secret-once">
    <p>{children}</p>
    <div className="secret-value">
      <code>{secret}</code>
      <CopyButton text={secret} what={what} />
    </div>
  </div>
);
