/** Settings of the machine that npm does not know: not ours to answer for. */
const ofTheMachine = /^npm warn Unknown (?:user|env|global|builtin) config /;

/** The warnings in what an install printed, but for those about the machine's own settings. */
export const installWarnings = output =>
  output.split(/\r?\n/).filter(line => line.startsWith('npm warn ') && !ofTheMachine.test(line));
