import type { ReactElement } from 'react';
import { CopyButton } from './copyButton.tsx';

/** Scrolls inside its own box, which keys can reach. */
export const CodeBlock = ({ code, label }: { code: string; label: string }): ReactElement => (
  <div className="code-block">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by keys. */}
    <section className="code-scroll" tabIndex={0} aria-label={label}>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
    <CopyButton text={code} what={label.toLowerCase()} />
  </div>
);
