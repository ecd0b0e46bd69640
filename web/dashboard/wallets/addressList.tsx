import type { ReactElement } from 'react';
import { Copyable } from '../kit/copyButton.tsx';

/** To be held against one's own wallet, so they are shown whole. */
export const AddressList = ({ addresses }: { addresses: readonly string[] }): ReactElement => (
  <ol className="address-list">
    {addresses.map((address, index) => (
      <li key={address}>
        <span className="muted">{index}</span>
        <Copyable text={address} what={`address ${index}`} />
      </li>
    ))}
  </ol>
);
