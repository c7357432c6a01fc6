export default { name: "t", transform: () => [{ id: "x", v: Object("boxed") }] }
