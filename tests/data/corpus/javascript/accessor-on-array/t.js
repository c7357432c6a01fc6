export default { name: "t", transform: () => [{ id: "x", v: Object.defineProperty([1, 2], 1, { get: () => 3 }) }] }
