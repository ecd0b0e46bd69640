export const eventsText = (events: readonly string[]): string =>
  events.includes('*') ? 'All events' : events.length === 1 ? events[0]! : `${events.length} event types`;
