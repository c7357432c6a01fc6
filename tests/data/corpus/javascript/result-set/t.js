export default { name: "t", transform: () => new Set([{ id: "x" }]) }
