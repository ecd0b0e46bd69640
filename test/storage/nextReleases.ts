import { loadRelease, migrationOf, type Release } from '../../src/storage/release.ts';

/** The releases after this one, each with its migrations as [phase, SQL]. */
export const nextReleases = async (...releases: readonly (readonly ['expand' | 'contract', string])[][]) => {
  const own = await loadRelease();
  const made: Release[] = [own];
  for (const added of releases) {
    const { migrations } = made.at(-1)!;
    const before = migrations.length;
    const next = added.map(([phase, sql], place) => {
      const number = String(before + place + 1).padStart(4, '0');
      return migrationOf(`${number}_next.sql`, `-- ${phase}\n${sql};\n`, before);
    });
    made.push({ migrations: [...migrations.map(each => ({ ...each, phase: 'base' as const })), ...next], before });
  }
  return made;
};
