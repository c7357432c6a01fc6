export const words = await new Promise((done) => queueMicrotask(() => done(["a", "ß"])))
