import { accessFaults } from './accessFaults.ts';
import { chainFaults } from './chainFaults.ts';
import { checkoutFaults } from './checkoutFaults.ts';
import { delivererFaults } from './delivererFaults.ts';
import { deliveryFaults } from './deliveryFaults.ts';
import { deliveryLogFaults } from './deliveryLogFaults.ts';
import type { Fault } from './fault.ts';
import { identityFaults } from './identityFaults.ts';
import { moneyFaults } from './moneyFaults.ts';
import { paymentFaults } from './paymentFaults.ts';
import { setupFaults } from './setupFaults.ts';
import { watchFaults } from './watchFaults.ts';

export const allFaults: readonly Fault[] = [
  ...paymentFaults,
  ...accessFaults,
  ...chainFaults,
  ...watchFaults,
  ...deliveryLogFaults,
  ...deliveryFaults,
  ...delivererFaults,
  ...checkoutFaults,
  ...moneyFaults,
  ...setupFaults,
  ...identityFaults,
];
