import type { ReactElement } from 'react';

/** Groups the whole part by three digits. Works on text, because no amount may become a float. */
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
