export default { name: "t", transform: () => ({ length: 1, 0: { id: "x" } }) }
