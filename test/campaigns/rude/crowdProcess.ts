import { type Crowd, type CrowdCounts, type CrowdSize, createCrowd, type Target } from './crowd.ts';

export type CrowdStart = { readonly target: Target; readonly size: CrowdSize; readonly seed: string };
export type CrowdOrder = 'come' | 'leave' | 'end';
/** After each order that was carried out. */
export type CrowdReport = CrowdCounts;

// A process of its own: what the crowd does must not delay the clock that measures the others.
process.once('message', (start: CrowdStart) => {
  const crowd: Crowd = createCrowd(start.target, start.size, start.seed);
  process.on('message', async (order: CrowdOrder) => {
    if (order === 'come') await crowd.come();
    else crowd.leave();
    process.send!(crowd.counts() satisfies CrowdReport);
    if (order === 'end') process.disconnect();
  });
});
process.once('disconnect', () => process.exit());
