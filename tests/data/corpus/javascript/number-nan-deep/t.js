export default { name: "t", transform: () => [{ id: "n", a: [1, { b: [parseInt("x", 10)] }] }] }
