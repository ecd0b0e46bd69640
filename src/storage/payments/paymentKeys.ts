import type { PaymentKey } from '../../core/paymentKey.ts';
import { columns } from '../columns.ts';

/** Keys of payments, as the first three parameters of a statement. */
export const paymentKeys = columns<PaymentKey>({
  account_id: ['text', key => key.accountId],
  environment: ['environment', key => key.environment],
  id: ['text', key => key.id],
});
