export default Promise.resolve({ name: "t", transform: () => [{ id: "x" }] })
