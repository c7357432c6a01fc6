export default { name: "t", transform: () => [{ id: "x", v: [new Map([["k", 1]])] }] }
