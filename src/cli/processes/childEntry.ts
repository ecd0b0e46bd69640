// A terminal and some service managers signal every process of a group. The supervisor says when to stop, and in which order.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
// Without its supervisor, this process would hold leases and serve beside the next start.
process.once('disconnect', () => process.exit(1));

// Last: it takes so long to load that either may happen meanwhile.
await import('./child.ts');

export {};
