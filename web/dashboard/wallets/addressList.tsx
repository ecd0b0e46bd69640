import type { ReactElement } from 'react';
import { Copyable } from '../kit/copyButton.tsx';

/** People compare these with their own wallet, so they are not shortened. */
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
