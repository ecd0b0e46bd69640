import type { ReactElement } from 'react';
import { wrongToken } from '../../../src/core/api/moneyApi.ts';
import type { Payment } from '../../../src/core/api/payment.ts';
import { exceptions, type PaymentException } from '../../../src/core/payment/states.ts';
import { Badge, StatusBadge } from '../kit/badge.tsx';

/** Problems that a payment can have, with the labels of the badges and the filter. */
export const issues: readonly { value: PaymentException | typeof wrongToken; label: string }[] = [
  ...exceptions.map(value => ({ value, label: value.charAt(0).toUpperCase() + value.slice(1) })),
  { value: wrongToken, label: 'Wrong token or network' },
];

/** The status, the exception, and whether money arrived that does not count. */
export const PaymentBadges = ({ payment }: { payment: Payment }): ReactElement => (
  <span className="row">
    <StatusBadge status={payment.status} />
    {payment.exception && <StatusBadge status={payment.exception} />}
    {payment.strays.length > 0 && <Badge tone="care">Wrong token or network</Badge>}
  </span>
);
