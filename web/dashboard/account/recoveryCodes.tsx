import type { ReactElement } from 'react';
import { Button } from '../kit/button.tsx';
import { CopyButton } from '../kit/copyButton.tsx';
import { Buttons } from '../kit/dialog.tsx';

const fileOf = (codes: readonly string[]): string =>
  `data:text/plain;charset=utf-8,${encodeURIComponent(`Florin recovery codes. Each works once.\n\n${codes.join('\n')}\n`)}`;

/** Shown once. Each code works once in place of the authenticator app. */
export const RecoveryCodes = ({ codes, onDone }: { codes: readonly string[]; onDone: () => void }): ReactElement => (
  <div className="stack printed">
    <p>
      If you lose your authenticator app, sign in with one of these codes. Each code works once. They are shown only
      now.
    </p>
    <ul className="recovery-codes">
      {codes.map(code => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
    <div className="row">
      <a className="button button-plain" href={fileOf(codes)} download="florin-recovery-codes.txt">
        Download
      </a>
      <Button onClick={() => print()}>Print</Button>
      <CopyButton text={codes.join('\n')} what="recovery codes" />
    </div>
    <Buttons>
      <Button kind="primary" onClick={onDone}>
        I saved them
      </Button>
    </Buttons>
  </div>
);
