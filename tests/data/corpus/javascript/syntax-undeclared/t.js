export default { name: "t", transform() { counter = 1; return [{ id: counter }] } }
