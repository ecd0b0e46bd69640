import Type, { type Static } from 'typebox';
import { simulatedOutcomes } from '../payment/simulatedOutcomes.ts';
import { choice, strict, text } from './fields.ts';

const outcome = choice(simulatedOutcomes, 'Outcome to simulate.');

export const simulateRequest = Type.Object({ outcome }, strict);
export type SimulateRequest = Static<typeof simulateRequest>;

export const simulation = Type.Object({
  outcome,
  transaction: text('Hash of the transaction on the local chain. For reorg, of the removed transaction.'),
});
