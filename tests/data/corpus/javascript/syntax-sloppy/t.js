export default { name: "t", transform() { return [{ id: 010 }] } }
