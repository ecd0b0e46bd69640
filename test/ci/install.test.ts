import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const { installWarnings } = (await import(new URL('../../.ci/installWarnings.mjs', import.meta.url).href)) as {
  installWarnings: (output: string) => string[];
};

const readJson = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

type Locked = { hasInstallScript?: boolean; engines?: { node?: string } };

const locked = Object.entries(readJson('package-lock.json').packages as Record<string, Locked>).filter(
  ([path]) => path !== '',
);

test('an install that prints a warning of ours fails the check', () => {
  const engine = 'npm warn EBADENGINE   package: cookie@2.0.2,';
  const scripts = 'npm warn allow-scripts 2 packages have install scripts not yet covered by allowScripts:';
  const output = ['', 'npm warn EBADENGINE Unsupported engine {', engine, scripts, '', 'added 201 packages in 1m'];
  expect(installWarnings(output.join('\n'))).toEqual(['npm warn EBADENGINE Unsupported engine {', engine, scripts]);
  expect(installWarnings('npm warn Unknown project config "fnd". This will stop working.\n')).toHaveLength(1);
});

test("an unknown setting of the machine's own npm is no warning of ours", () => {
  const user = 'npm warn Unknown user config "nodedir". This will stop working in the next major version of npm.';
  const env = 'npm warn Unknown env config "store". This will stop working in the next major version of npm.';
  expect(installWarnings(`${user}\r\n${env}\nadded 201 packages in 1m\nnpm notice New minor version\n`)).toEqual([]);
});

test('every package with an install script is denied by name', () => {
  const withScripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  const names = withScripts.map(path => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect(names).toContain('esbuild');
  const { allowScripts } = readJson('package.json') as { allowScripts: Record<string, boolean> };
  expect(allowScripts).toEqual(Object.fromEntries(names.map(name => [name, false])));
});

test('no installed package asks for a Node newer than 20', () => {
  // The lowest version that a range names; packages that only a newer Node can use name no other.
  const lowestMajor = (range: string): number =>
    Math.min(...[...range.matchAll(/(?<![\d.])(\d+)(?:\.[\dx*]+)*/g)].map(([, major]) => Number(major)));
  const tooNew = locked.filter(([, { engines }]) => engines?.node && lowestMajor(engines.node) > 20);
  expect(tooNew.map(([path, { engines }]) => `${path} ${engines!.node}`)).toEqual([]);
});
