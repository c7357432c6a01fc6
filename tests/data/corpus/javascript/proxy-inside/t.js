const defaults = new Proxy({}, { get: (target, key) => (typeof key === "string" ? `no ${key}` : undefined), has: () => true })
export default { name: "t", transform: () => [{ id: defaults.anything, has: "x" in defaults, spread: { ...new Proxy({ a: 1 }, {}) } }] }
