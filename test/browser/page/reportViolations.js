// Told by the page itself, because an address for reports would be a request more.
addEventListener('securitypolicyviolation', event => {
  console.error(`CSP: ${event.violatedDirective} refused ${event.blockedURI || 'inline'}`);
});
