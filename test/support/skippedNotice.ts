import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { findBrowser, howToGetBrowser } from './findBrowser.ts';
import { howToGetPgbouncer } from './findPgbouncer.ts';
import { howToGetPostgresql } from './findPostgresql.ts';
import { howToGetPrometheus } from './findPrometheus.ts';
import { howToGetProxies } from './findProxy.ts';
import { howToGetRedis } from './findRedis.ts';

const isSkipped =
  (tag: string) =>
  ({ options }: TestCase): boolean =>
    options.mode === 'skip' && (options.tags ?? []).includes(tag);
const hasSkipped = (modules: readonly TestModule[], tag: string): boolean =>
  modules.some(({ children }) => [...children.allTests()].some(isSkipped(tag)));

/** The last lines of a run: what it left out for want of a program, and how to get that. */
export default class SkippedNotice implements Reporter {
  private readonly isAll: boolean;

  constructor({ isAll }: { isAll: boolean }) {
    this.isAll = isAll;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    this.noticeBrowser(modules);
    // It is no part of npm test.
    if (this.isAll) this.noticeDump(modules);
    if (hasSkipped(modules, 'basebackup')) {
      console.log('\nSkipped: the database servers of compose.cluster.yaml. They need PostgreSQL with pg_basebackup.');
      console.log(`Get it with: ${howToGetPostgresql}\n`);
    }
    if (hasSkipped(modules, 'pgbouncer')) {
      console.log('\nSkipped: a pooler before the database. It needs PgBouncer.');
      console.log(`Get it with: ${howToGetPgbouncer}   (or set PGBOUNCER_PATH to its program)\n`);
    }
    if (hasSkipped(modules, 'promtool')) {
      console.log('\nSkipped: the alert rules. They need promtool, which comes with Prometheus.');
      console.log(`Get it with: ${howToGetPrometheus}   (or set PROMETHEUS_PATH to its folder)\n`);
    }
    if (hasSkipped(modules, 'proxies')) {
      console.log('\nSkipped: Florin behind a proxy. It needs nginx and Caddy, and Linux.');
      console.log(`Get them with: ${howToGetProxies}   (or set PROXIES_PATH to their folders)\n`);
    }
    if (hasSkipped(modules, 'redis')) {
      console.log('\nSkipped: rate limits of several processes. They need Redis or Valkey.');
      console.log(`Get it with: ${howToGetRedis}   (or set REDIS_SERVER_PATH to its program)\n`);
    }
  }

  private noticeDump(modules: readonly TestModule[]): void {
    if (!hasSkipped(modules, 'dump') || process.env.TEST_DATABASE_URL) return;
    console.log('\nSkipped: a restored dump. It needs pg_dump, which the embedded PostgreSQL does not have.');
    console.log('Set TEST_DATABASE_URL to a server whose pg_dump is on the PATH.\n');
  }

  private noticeBrowser(modules: readonly TestModule[]): void {
    if (findBrowser() !== null) return;
    const skipped = modules.filter(({ relativeModuleId }) => relativeModuleId.startsWith('test/browser/'));
    const tests = skipped.reduce((sum, { children }) => sum + [...children.allTests()].length, 0);
    if (tests === 0) return;
    console.log(
      `\nSkipped: ${tests} tests of pages in ${skipped.length} file${skipped.length === 1 ? '' : 's'}. They need Chromium, Chrome or Edge.`,
    );
    console.log(`Get one with: ${howToGetBrowser()}   (or set CHROMIUM_PATH to its program)\n`);
  }
}
