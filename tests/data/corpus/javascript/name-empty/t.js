export default { name: "", transform: () => [{ id: "x" }] }
