import type { Payment } from '../../../src/core/api/payment.ts';

/** An open payment may change at any moment, so it is read often. */
export const isOpen = ({ status }: Payment): boolean => status === 'pending' || status === 'confirming';

export const openMs = 2_000;
export const restMs = 15_000;
