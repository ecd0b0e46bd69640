import type { ReactElement } from 'react';
import { wrongToken } from '../../../src/core/dashboard/moneyApi.ts';
import { exceptions, type PaymentException } from '../../../src/core/payment/states.ts';
import { Badge, StatusBadge } from '../kit/badge.tsx';
import type { ShownPayment } from './shownPayment.ts';

/** What can be wrong with a payment, in the words of the badges and of the filter. */
export const issues: readonly { value: PaymentException | typeof wrongToken; label: string }[] = [
  ...exceptions.map(value => ({ value, label: value.charAt(0).toUpperCase() + value.slice(1) })),
  { value: wrongToken, label: 'Wrong token' },
];

/** Where a payment stands, what is wrong with it, and whether something else came to its address. */
export const PaymentBadges = ({ payment }: { payment: ShownPayment }): ReactElement => (
  <span className="row">
    <StatusBadge status={payment.status} />
    {payment.exception && <StatusBadge status={payment.exception} />}
    {payment.strays.length > 0 && <Badge tone="care">Wrong token</Badge>}
  </span>
);
