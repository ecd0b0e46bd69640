import { serveNode } from '../chains/servedNode.ts';
import { atEndOfFile } from '../support/endOfFile.ts';

/** A stand-in for a public node, which ends with the test file. */
export const startRpcNode = async (...options: Parameters<typeof serveNode>): ReturnType<typeof serveNode> => {
  const served = await serveNode(...options);
  atEndOfFile(served.close);
  return served;
};
