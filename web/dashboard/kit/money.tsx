import type { ReactElement } from 'react';

/** Groups of three before the point; every digit as the server wrote it: no amount ever becomes a float. */
export const groupedAmount = (amount: string): string => {
  const [whole = '0', fraction] = amount.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
};

export const Money = ({ amount, currency }: { amount: string; currency: string }): ReactElement => (
  <span className="money">
    {groupedAmount(amount)} <span className="money-currency">{currency}</span>
  </span>
);
