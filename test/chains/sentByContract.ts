import type { Sent } from './followScene.ts';

const word = (value: bigint): string => value.toString(16).padStart(64, '0');

/** Native coin sent by a contract: creation code that passes it on and leaves no contract. */
export const byContract = (to: string, amount: bigint): Sent => ({
  data: `0x60006000600060007f${word(amount)}73${to.slice(2)}5af15000`,
  value: amount,
});

/** Native coin that a contract leaves behind when it destroys itself. */
export const bySelfdestruct = (to: string, amount: bigint): Sent => ({ data: `0x73${to.slice(2)}ff`, value: amount });
