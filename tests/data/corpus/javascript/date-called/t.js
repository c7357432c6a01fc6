export default { name: "t", transform: () => [{ id: "d", n: Date.apply(undefined, []).length > 0 }] }
