import { invalid } from '../../core/errors.ts';

const [maxReason, maxName] = [1_000, 320];

/** Who decides about money, and why. Both are kept for good. */
export type Decision = { readonly by: string; readonly reason: string };

/** The decision without surrounding space. Throws if a part of it is missing or too long. */
export const requireDecision = (given: Decision): Decision => {
  const [by, reason] = [given.by.trim(), given.reason.trim()];
  if (by.length < 1 || by.length > maxName) throw invalid('by', `The name must have 1 to ${maxName} characters.`);
  if (reason.length < 1 || reason.length > maxReason) {
    throw invalid('reason', `The reason must have 1 to ${maxReason} characters.`);
  }
  return { by, reason };
};
