await new Promise(() => {})
export default { name: "t", transform: () => [{ id: "x" }] }
