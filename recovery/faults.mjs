/** A fault that a person can do something about. */
export class Fault extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** One sentence without a stack. The details of viem say what the node answered. */
export const sentenceOf = error => {
  const firstLine = text => `${text}`.split('\n')[0];
  const sentence = firstLine(error?.shortMessage ?? error?.message ?? error);
  const details = error?.shortMessage && error.details ? firstLine(error.details) : '';
  return details === '' || sentence.includes(details) ? sentence : `${sentence} (${details})`;
};

/** Names what failed and goes on: one bad answer must not keep the rest from being swept. */
export const createFaultList = () => {
  let count = 0;
  return {
    add: sentence => {
      count += 1;
      console.error(sentence);
    },
    count: () => count,
  };
};
