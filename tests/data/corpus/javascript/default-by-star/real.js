export default { name: "t", transform: () => [{ id: "x" }] }
