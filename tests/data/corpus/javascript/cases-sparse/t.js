export default { name: "t", transform: () => [{ id: "a" }, , { id: "c" }] }
