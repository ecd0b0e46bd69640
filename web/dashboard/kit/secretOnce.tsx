import type { ReactElement, ReactNode } from 'react';
import { CopyButton } from './copyButton.tsx';

/** Shown now and never again. It is in the memory of the page alone, and leaves with it. */
export const SecretOnce = ({
  secret,
  what,
  children = 'This is shown once. Store it now, where only your server reads it.',
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
