import { chainFaults } from './chainFaults.ts';
import type { Fault } from './fault.ts';
import { forgedFactsFaults } from './forgedFactsFaults.ts';
import { forgeryFaults } from './forgeryFaults.ts';
import { moneyFaults } from './moneyFaults.ts';
import { secretFaults } from './secretFaults.ts';
import { sweepFaults } from './sweepFaults.ts';
import { tenantFaults } from './tenantFaults.ts';

export const allFaults: readonly Fault[] = [
  ...moneyFaults,
  ...chainFaults,
  ...secretFaults,
  ...sweepFaults,
  ...tenantFaults,
  ...forgeryFaults,
  ...forgedFactsFaults,
];
