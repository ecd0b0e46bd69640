/** Browser features that no page needs. They are turned off. The clipboard stays on, for addresses and keys. */
const features = [
  'accelerometer=()',
  'camera=()',
  'clipboard-write=(self)',
  'display-capture=()',
  'geolocation=()',
  'gyroscope=()',
  'magnetometer=()',
  'microphone=()',
  'midi=()',
  'payment=()',
  'usb=()',
];

/** The header's value. `own` lists the features that this kind of page may use. */
export const permissionsPolicy = (...own: string[]): string =>
  [...features, ...own.map(feature => `${feature}=(self)`)].join(', ');
