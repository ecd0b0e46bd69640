export const simulatedOutcomes = ['paid', 'underpaid', 'overpaid', 'late', 'reorg', 'wrong_token'] as const;
export type SimulatedOutcome = (typeof simulatedOutcomes)[number];
