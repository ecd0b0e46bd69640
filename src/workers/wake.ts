/** A wait that ends early when `up` is called. */
export const createWake = () => {
  let isCalled = false;
  let call = (): void => {};
  return {
    up(): void {
      isCalled = true;
      call();
    },
    async next(timeoutMs: number): Promise<void> {
      if (!isCalled) {
        const called = Promise.withResolvers<void>();
        const timer = setTimeout(called.resolve, timeoutMs);
        call = called.resolve;
        await called.promise;
        clearTimeout(timer);
      }
      isCalled = false;
    },
  };
};
