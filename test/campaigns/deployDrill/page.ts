import { readFile } from 'node:fs/promises';

/** A part of docs/deploying.md. Number 0 is what comes before the first step, the last one is what comes after. */
export type Step = {
  readonly number: number;
  /** As `florin doctor --live` names the line. Null for the parts around the steps. */
  readonly name: string | null;
  readonly scripts: readonly string[];
};

export type DeployingPage = {
  /** The variables that a reader fills in. */
  readonly values: readonly string[];
  readonly steps: readonly Step[];
};

const path = new URL('../../../docs/deploying.md', import.meta.url);

/** The fenced blocks of a kind. It follows the language, where no renderer shows it. */
const blocksOf = (text: string, kind: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`sh ${kind}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, script]) => script!);

export const readDeployingPage = async (): Promise<DeployingPage> => {
  const text = await readFile(path, 'utf8');
  const steps = text.split(/^## /m).map((part, at): Step => {
    const [, number, title] = /^(\d+)\. (.+)$/m.exec(part.split('\n', 1)[0]!) ?? [];
    const name = title === undefined ? null : title.toLowerCase().replaceAll(' ', '-');
    return {
      number: number === undefined ? (at < 2 ? 0 : Number.POSITIVE_INFINITY) : Number(number),
      name,
      scripts: blocksOf(part, 'run'),
    };
  });
  const values = blocksOf(text, 'values').flatMap(block =>
    [...block.matchAll(/^([A-Z_0-9]+)=/gm)].map(([, name]) => name!),
  );
  return { values, steps };
};
