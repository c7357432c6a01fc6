export default { name: "t", transform: () => [{ id: "a" }, null] }
