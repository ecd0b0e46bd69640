import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type Artefact = {
  readonly contract: string;
  readonly source: string;
  readonly compiler: { readonly version: string; readonly settings: Json };
  readonly abi: Json;
  readonly creationCode: string;
  readonly runtimeCode: string;
};

type SolcOutput = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Record<
    string,
    Record<string, { abi: Json; evm: { bytecode: { object: string }; deployedBytecode: { object: string } } }>
  >;
};

/** Contracts whose bytes are checked in, each in its own file. The order does not matter. */
const checkedIn = ['BalanceReader', 'Forwarder', 'ForwarderFactory', 'TestToken', 'SilentTestToken'] as const;

const sourceDirectory = new URL('./src/', import.meta.url);
const testDirectory = new URL('./test/', import.meta.url);

/**
 * No metadata in the bytecode, so that a comment or a path cannot change an address. `paris`, because its bytes run on
 * every supported network; PUSH0 (shanghai) would save less than 0.1 % of a sweep.
 */
const settings = {
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 1_000_000 },
  viaIR: false,
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
};

const readSources = (directory: URL): Record<string, { content: string }> =>
  Object.fromEntries(
    readdirSync(directory)
      .filter(name => name.endsWith('.sol'))
      .sort()
      .map(name => [name, { content: readFileSync(new URL(name, directory), 'utf8') }]),
  );

/** Compiles every `.sol` file of a directory, without any access to the network. Warnings count as errors. */
const compile = (directory: URL): Map<string, Artefact> => {
  const solc: { version(): string; compile(input: string): string } = createRequire(import.meta.url)('solc');
  const outputSelection = { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } };
  const input = {
    language: 'Solidity',
    sources: readSources(directory),
    settings: { ...settings, outputSelection },
  };
  const output: SolcOutput = JSON.parse(solc.compile(JSON.stringify(input)));
  const problems = (output.errors ?? []).filter(problem => problem.severity !== 'info');
  if (problems.length > 0) throw new Error(problems.map(problem => problem.formattedMessage).join('\n'));
  const artefacts = new Map<string, Artefact>();
  for (const [source, contracts] of Object.entries(output.contracts)) {
    for (const [contract, { abi, evm }] of Object.entries(contracts)) {
      artefacts.set(contract, {
        contract,
        source,
        compiler: { version: solc.version(), settings },
        abi,
        creationCode: `0x${evm.bytecode.object}`,
        runtimeCode: `0x${evm.deployedBytecode.object}`,
      });
    }
  }
  return artefacts;
};

const fileText = (value: object | undefined): string => `${JSON.stringify(value, null, 2)}\n`;

/** The artefact files as they must be on disk: path → exact text. */
export const artefactFiles = (): Map<string, string> => {
  const artefacts = compile(sourceDirectory);
  const files = new Map(checkedIn.map(name => [`artefacts/${name}.json`, fileText(artefacts.get(name))]));
  // In one file: only tests read them, and compiling took ten seconds of each run.
  return files.set('test/artefacts.json', fileText(Object.fromEntries(compile(testDirectory))));
};

if (import.meta.main) {
  for (const [path, text] of artefactFiles()) writeFileSync(new URL(path, import.meta.url), text);
}
