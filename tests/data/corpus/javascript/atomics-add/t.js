export default { name: "t", transform: () => [{ id: String(Atomics.add(new Int32Array(2), 0, 1)) }] }
