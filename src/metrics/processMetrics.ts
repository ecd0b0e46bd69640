import { createHistogram } from './counters.ts';
import type { Family } from './exposition.ts';
import { familyOf, gauge } from './metricTable.ts';

const intervalMs = 100;
const delayBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * What the process uses, and how late its timers are. Node's own monitor of the event loop keeps one histogram since its
 * last reset: two scrapers would take it from each other, and Prometheus cannot add it up.
 */
export const createProcessMetrics = (nowMs: () => number) => {
  const delay = createHistogram(delayBounds);
  let timer: NodeJS.Timeout;
  // A timer that is set again when it fires: however long the process stood still, that is one measurement.
  const measure = (): void => {
    const dueMs = nowMs() + intervalMs;
    timer = setTimeout(() => {
      delay.observe(Math.max(0, nowMs() - dueMs) / 1000);
      measure();
    }, intervalMs).unref();
  };
  measure();
  return {
    families(): Family[] {
      const { user, system } = process.cpuUsage();
      return [
        gauge('process_start_time_seconds', performance.timeOrigin / 1000),
        gauge('process_cpu_seconds_total', (user + system) / 1e6),
        gauge('process_resident_memory_bytes', process.memoryUsage.rss()),
        familyOf('florin_event_loop_delay_seconds', delay.samples()),
      ];
    },
    stop: () => clearTimeout(timer),
  };
};
