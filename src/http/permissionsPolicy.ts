/** Everything that a browser can do and no page of ours needs is off; the clipboard is for addresses and keys. */
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

/** The header's value. A kind of page names the features that it alone may use. */
export const permissionsPolicy = (...own: string[]): string =>
  [...features, ...own.map(feature => `${feature}=(self)`)].join(', ');
