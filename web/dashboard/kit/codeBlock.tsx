import type { ReactElement } from 'react';
import { CopyButton } from './copyButton.tsx';

/** Code in a box that scrolls, also by keyboard. */
export const CodeBlock = ({ code, label }: { code: string; label: string }): ReactElement => (
  <div className="code-block">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard. */}
    <section className="code-scroll" tabIndex={0} aria-label={label}>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
    <CopyButton text={code} what={label.toLowerCase()} />
  </div>
);
