export default { name: "t", *transform() { yield { id: "x" } } }
